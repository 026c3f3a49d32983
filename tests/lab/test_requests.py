"""Requests through a service address reach the backends, in the shares that the rows give them."""
import pytest

from checks import counts, nothing_failed, nothing_lost, shares_as_the_rows_allow
from topology import SERVICES
from traffic import upload

BACKENDS = ("b1", "b2", "b3")


@pytest.mark.parametrize("service", list(SERVICES), ids=[
    "IPv4 service over IPv4 backends", "IPv4 service over IPv6 backends", "IPv6 service over IPv4 backends",
    "IPv6 service over IPv6 backends"])
def test_two_thousand_requests_over_three_backends(lab, director, service):
    rows = director.rows("web6" if service.endswith("v6") else "web")
    assert max(rows.values()) - min(rows.values()) <= 1
    before = counts(director, lab, BACKENDS)
    report = lab.load(service, connections=20, requests=1, count=2000).finish()
    nothing_failed(report)
    assert report["requests"] == 2000
    # b3 stands behind a router of its own, so this shows that way as well.
    shares_as_the_rows_allow(report["connections_by_backend"], rows)
    delta = nothing_lost(director, lab, before, BACKENDS)
    assert delta["forward"] > 2000 * 4


@pytest.mark.parametrize("service", list(SERVICES))
def test_full_size_packets_pass_both_ways(lab, director, service):
    """An upload fills the client's MTU, and the wrapping comes on top of it."""
    assert upload(lab.net, lab.file.path, service) in BACKENDS
    assert lab.download(service, rate=None).finish()


def test_shares_follow_the_weights(lab, director):
    director.call("backend", "weight", "web", "b1", 300)
    rows = director.rows()
    assert abs(rows["b1"] - 65537 * 300 / 500) <= 1
    report = lab.load(connections=20, requests=1, count=1500).finish()
    nothing_failed(report)
    shares_as_the_rows_allow(report["connections_by_backend"], rows)
