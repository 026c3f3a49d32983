"""What the network does in mid-download: a next hop's MAC changes, a link flaps; and two workers."""
import time

import pytest

from checks import counts, nothing_failed, nothing_lost, shares_as_the_rows_allow
from director import site_toml

NAMES = ("b1", "b2", "b3")


def one_backend_site(name):
    return site_toml(backends=(name,))


@pytest.mark.parametrize("backend,role,interface", [("b1", "b1", "eth0"), ("b3", "r2", "up0")],
                         ids=["a backend's own", "the router's before a backend"])
def test_a_next_hops_mac_changes_in_mid_download(lab, new_director, backend, role, interface):
    new_director(one_backend_site(backend))
    download = lab.download(rate="1500k")
    staying = lab.load(connections=50, requests=0, pause_ms=50, timeout_ms=5000).wait_ready()
    old = lab.net.mac(role, interface)
    lab.net.sysctl(role, **{f"net.ipv4.conf.{interface}.arp_notify": 1})  # as a host that takes over an address does
    lab.net.ip(role, f"link set {interface} address 02:00:00:00:77:01")
    try:
        assert download.running()
        assert download.finish()
        nothing_failed(staying.finish(stop=True))
        nothing_failed(lab.load(connections=5, requests=1, count=50).finish())
    finally:
        lab.net.ip(role, f"link set {interface} address {old}")


def test_a_link_flaps_in_mid_download(lab, new_director):
    director = new_director()
    download = lab.download(rate="1m")
    staying = lab.load(connections=50, requests=0, pause_ms=50, timeout_ms=10000).wait_ready()
    lab.net.ip("router", "link set to-director down")
    time.sleep(0.4)
    lab.net.ip("router", "link set to-director up")
    assert download.running()
    assert download.finish()
    nothing_failed(staying.finish(stop=True))
    assert {port["name"]: port["link"] for port in director.json("status")["ports"]} == {"wan": "up", "lan": "up"}


def test_two_workers(lab, new_director):
    director = new_director(workers=(0, 1))
    before = counts(director, lab, NAMES)
    download = lab.download(rate="2m")
    report = lab.load(connections=40, requests=1, count=2000).finish()
    nothing_failed(report)
    shares_as_the_rows_allow(report["connections_by_backend"], director.rows())
    director.call("backend", "drain", "web", download.backend)
    assert download.finish()
    nothing_lost(director, lab, before, NAMES)
    workers = director.json("stats")["workers"]
    assert len(workers) == 2 and all(worker["packets_in"] > 500 for worker in workers), workers


def test_what_veth_needs_is_said_once(director):
    lines = [line for line in director.log().splitlines() if "ethtool -K PEER tx off" in line]
    assert len(lines) == 1 and "warning: on a veth pair: wan (wan), lan (lan)" in lines[0], lines
