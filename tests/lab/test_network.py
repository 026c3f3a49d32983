"""What the network does in mid-download: a next hop's MAC changes, a link flaps; and two workers."""
import contextlib
import json
import time

import pytest

from checks import counts, nothing_failed, nothing_lost, shares_as_the_rows_allow, until
from director import site_toml

NAMES = ("b1", "b2", "b3")


def one_backend_site(name):
    return site_toml(backends=(name,))


FOUND_WITHIN = 2  # seconds, a MAC that changes without a word; the README says so
NEW_MAC = "02:00:00:00:77:01"
NEXT_HOPS = [("b1", "b1", "eth0", "v4v4"), ("b3", "r2", "up0", "v4v4"), ("b1", "b1", "eth0", "v6v6"),
             ("b3", "r2", "up0", "v6v6")]
NEXT_HOP_IDS = [f"{whose}, {family}" for family in ("IPv4", "IPv6") for whose in ("a backend's own", "a router's")]


@contextlib.contextmanager
def another_mac(lab, role, interface):
    old = lab.net.mac(role, interface)
    lab.net.ip(role, f"link set {interface} address {NEW_MAC}")
    try:
        yield
    finally:
        lab.net.ip(role, f"link set {interface} address {old}")


@contextlib.contextmanager
def announcing(lab, role, interface, value):
    """Whether a host tells the LAN of its MAC when that changes, as one does that takes over an address."""
    names = (f"net.ipv4.conf.{interface}.arp_notify", f"net.ipv6.conf.{interface}.ndisc_notify")
    lab.net.sysctl(role, **{name: value for name in names})
    try:
        yield
    finally:
        lab.net.sysctl(role, **{name: 0 for name in names})


@contextlib.contextmanager
def nobody_else_heard(lab):
    """The director does not overhear what others ask on the LAN: an ARP request tells everybody its sender's MAC."""
    lab.net.run("router", ["nft", "-f", "-"], input="""
        table bridge overhearing {
          chain forward {
            type filter hook forward priority 0
            iifname != "to-director" oifname "to-director" arp operation request drop
          }
        }""")
    try:
        yield
    finally:
        lab.net.run("router", ["nft", "delete", "table", "bridge", "overhearing"])


def time_until_known(director, started):
    """Seconds until the director's next hops have the new MAC."""
    until(lambda: any(hop["mac"] == NEW_MAC for hop in director.json("status")["next_hops"]), seconds=10,
          what="the new MAC is in use")
    return time.monotonic() - started


def nothing_breaks_when_the_mac_changes(lab, director, role, interface, service, within):
    download = lab.download(service, rate="1m")
    staying = lab.load(service, connections=50, requests=0, pause_ms=50, timeout_ms=8000).wait_ready()
    changed = time.monotonic()
    with another_mac(lab, role, interface):
        took = time_until_known(director, changed)
        print(f"in use after {took:.2f} s")
        assert took < within
        assert download.running()
        assert download.finish()
        nothing_failed(staying.finish(stop=True))
        nothing_failed(lab.load(service, connections=5, requests=1, count=50).finish())


@pytest.mark.parametrize("backend,role,interface,service", NEXT_HOPS, ids=NEXT_HOP_IDS)
def test_a_next_hops_mac_changes_in_mid_download(lab, new_director, backend, role, interface, service):
    director = new_director(one_backend_site(backend))
    with announcing(lab, role, interface, 1), nobody_else_heard(lab):
        nothing_breaks_when_the_mac_changes(lab, director, role, interface, service, within=0.5)


@pytest.mark.parametrize("backend,role,interface,service", NEXT_HOPS, ids=NEXT_HOP_IDS)
def test_a_mac_that_changes_without_a_word_is_found_in_mid_download(lab, new_director, backend, role, interface, service):
    director = new_director(one_backend_site(backend))
    with announcing(lab, role, interface, 0), nobody_else_heard(lab):
        nothing_breaks_when_the_mac_changes(lab, director, role, interface, service, within=FOUND_WITHIN)


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


@pytest.mark.parametrize("device", ["af_packet", "af_xdp"])
def test_after_a_stop_the_interfaces_are_as_they_were(lab, tmp_path, device):
    def interfaces():
        return lab.net.run("director", ["ip", "-d", "address", "show"]).stdout

    def mtu(interface):
        return json.loads(lab.net.run("director", ["ip", "-j", "link", "show", interface]).stdout)[0]["mtu"]

    made = lab.director(home=tmp_path, device=device)
    made.write_files()
    made.director_file.write_text(made.director_file.read_text().replace("mtu = 1600", "mtu = 1580"))
    before = interfaces()
    try:
        made.start()
        assert mtu("lan") == 1580
    finally:
        made.stop()
        lab.reset_log("guidewayd")
    assert interfaces() == before


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


NOBODY = "10.20.0.250"


def test_the_log_names_a_backend_without_a_next_hop(new_director):
    director = new_director()
    asked = f"backend add web ghost {NOBODY} --weight 1"
    began = time.monotonic()
    director.call(*asked.split())
    assert time.monotonic() - began < 2, "a backend that does not answer holds up its own change for a moment only"
    assert f"backends without a next hop: {NOBODY} (port lan, on-link: {NOBODY} does not answer" in director.log()
    assert next(hop for hop in director.json("status")["next_hops"] if hop["address"] == NOBODY)["state"] == "unresolved"
