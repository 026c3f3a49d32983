"""af_xdp: the director shares its client side with the kernel by address.

Only packets for services leave the kernel's way; ping, TCP, ARP and ND of the host go on beside them. The backends' side
is af_packet in most tests and af_xdp in one.
"""
import json
import time

import pytest

from checks import nothing_failed, started_after, until
from director import DIRECTOR_TOML, site_toml
from servers import start_web
from test_bad_input import one_sentence
from topology import BACKENDS, DIRECTOR_V4, DIRECTOR_V6, MTU_INSIDE, MTU_OUTSIDE
from traffic import url_host

HOST_V4, HOST_V6 = "10.10.0.2", "fd00:10::2"
LATE = "203.0.113.99"  # a service that comes and goes


def toml(home, inside="af_packet", workers=(1,), queues=1, outside_mtu=MTU_OUTSIDE):
    out = DIRECTOR_TOML.format(v4=DIRECTOR_V4, v6=DIRECTOR_V6, workers=list(workers), home=home, device="af_packet",
                               outside=outside_mtu, inside=MTU_INSIDE, queues=queues)
    return out.replace('"af_packet:wan"', '"af_xdp:wan"').replace('"af_packet:lan"', f'"{inside}:lan"')


def xdp_program(lab, interface="wan"):
    """What is attached: the kernel's word for the mode, and the program's name; None: nothing."""
    link = json.loads(lab.net.run("director", ["ip", "-j", "-d", "link", "show", interface]).stdout)[0]
    return link.get("xdp", {}).get("prog", {}).get("name")


@pytest.fixture
def made(lab, tmp_path):
    """A director that is not started; its interfaces are bare again afterwards, whatever happened."""
    out = lab.director(home=tmp_path)
    out.write_files(site_toml(), toml(tmp_path))
    yield out
    out.stop()
    print(out.log()[-6000:])
    lab.reset_log("guidewayd")
    for interface in ("wan", "lan"):
        lab.net.run("director", ["ip", "link", "set", "dev", interface, "xdp", "off"], check=False)


@pytest.fixture
def host_web(lab):
    """A web server on the director's host itself, on port 8080."""
    if "web-director" not in lab.net.processes or not lab.net.processes["web-director"].alive():
        start_web(lab.net, "director", lab.file.path.parent)


def ping(lab, address):
    return lab.net.run("client", ["ping", "-c", "2", "-i", "0.2", "-W", "2", address], check=False).returncode == 0


def get(lab, address, path, port=80, seconds=5):
    """The body of an answer; empty: none came."""
    return lab.net.run("client", ["curl", "-sS", "--globoff", "--max-time", seconds,
                                  f"http://{url_host(address)}:{port}{path}"], check=False).stdout


def test_the_host_and_the_services_share_the_interface(lab, made, host_web):
    made.start()
    assert xdp_program(lab) == "steer"
    for address in (HOST_V4, HOST_V6):
        assert ping(lab, address), f"the kernel does not answer a ping of {address}"
        assert get(lab, address, "/healthz", 8080) == "ok\n", f"the kernel does not serve TCP on {address}"
    for service in ("v4v4", "v4v6", "v6v4", "v6v6"):
        nothing_failed(lab.load(service, connections=10, requests=2, count=200).finish())
    # Beside traffic too.
    load = lab.load(connections=50, requests=0, pause_ms=20, timeout_ms=5000).wait_ready()
    for address in (HOST_V4, HOST_V6):
        assert ping(lab, address) and get(lab, address, "/healthz", 8080) == "ok\n"
    nothing_failed(load.finish(stop=True))
    port = made.json("status")["ports"][0]
    assert port["driver"] == "net_af_xdp"
    assert port["steered"]["to_socket"] > 800 and port["steered"]["to_kernel"] > 20, port
    assert port["steered"]["no_socket"] == 0, port
    # The host's own packets never came to the director.
    assert made.json("stats")["verdicts"]["kernel"]["packets"] < port["steered"]["to_kernel"] + 1000


@pytest.mark.parametrize("inside", ["af_packet", "af_xdp"])
def test_a_drain_under_load(lab, made, inside):
    made.director_file.write_text(toml(made.home, inside))
    made.start()
    download = lab.download(rate="1500k")
    victim = download.backend
    staying = lab.load(connections=100, requests=0, pause_ms=50, timeout_ms=5000).wait_ready()
    short = lab.load(connections=5, requests=1, timeout_ms=5000)
    time.sleep(0.3)
    assert made.json("backend", "drain", "web", victim)["rows_moved"] > 20000
    drained_at = time.monotonic_ns()
    assert download.running()
    assert download.finish(), "the download through the drained backend broke"
    nothing_failed(staying.finish(stop=True))
    nothing_failed(short.finish(stop=True))
    assert not started_after(short.records(), drained_at, victim)
    assert len([record for record in short.records() if record.start > drained_at]) > 20


def test_services_come_and_go(lab, made, host_web):
    """A new service's packets come to the director; a removed one's go to the kernel."""
    for name in ("b1", "b2", "b3"):
        lab.net.ip(name, f"address add {LATE}/32 dev lo")
        lab.agent(name).call("update", "eth0", "--service", "203.0.113.0/24,2001:db8:5::/64")
    try:
        made.start()
        steered = made.json("status")["ports"][0]["steered"]["to_socket"]
        assert get(lab, LATE, "/", seconds=1) == ""
        assert made.json("status")["ports"][0]["steered"]["to_socket"] == steered, "no service, and yet steered"
        made.call("service", "add", "late", LATE, "web", "--ports", "80")
        assert get(lab, LATE, "/").split()[0] in BACKENDS
        made.call("service", "remove", "late", "--force")
        lab.net.ip("director", f"address add {LATE}/32 dev lo")
        assert get(lab, LATE, "/healthz", 8080) == "ok\n", "the kernel did not get the address back"
        assert ping(lab, LATE)
        # An address of the host is no service address, here as elsewhere.
        refused = made.call("service", "add", "late", LATE, "web", "--ports", "80", check=False)
        assert refused.returncode == 1 and LATE in refused.stderr
    finally:
        lab.net.run("director", ["ip", "address", "delete", f"{LATE}/32", "dev", "lo"], check=False)
        for name in ("b1", "b2", "b3"):
            lab.agent(name).detach()
            lab.agent(name).attach()
            lab.net.ip(name, f"address delete {LATE}/32 dev lo")


def test_a_service_prefix_is_steered_whole(lab, made):
    site = site_toml().replace('address = "203.0.113.10"', 'address = "203.0.113.0/28"')
    made.write_files(site, toml(made.home))
    made.start()
    nothing_failed(lab.load(connections=5, requests=1, count=50).finish())


def test_kill_9_and_a_restart(lab, made):
    made.start()
    epoch = made.json("status")["epoch"]
    staying = lab.load(connections=50, requests=0, pause_ms=50, timeout_ms=20000).wait_ready()
    made.kill()
    assert xdp_program(lab) == "steer", "the kernel kept the program; else the next assertion shows nothing"
    assert ping(lab, HOST_V4), "the host is cut off while no director runs"
    made.start()
    assert made.json("status")["epoch"] == epoch
    nothing_failed(staying.finish(stop=True))
    nothing_failed(lab.load(connections=10, requests=1, count=200).finish())


def test_a_stop_leaves_no_program(lab, made):
    made.director_file.write_text(toml(made.home, "af_xdp"))
    made.start()
    assert xdp_program(lab, "wan") == xdp_program(lab, "lan") == "steer"
    made.stop()
    assert xdp_program(lab, "wan") is None and xdp_program(lab, "lan") is None
    assert ping(lab, HOST_V4)


def test_a_link_that_goes_and_comes(lab, made):
    made.start()
    lab.net.ip("router", "link set to-wan down")
    try:
        until(lambda: made.json("status")["ports"][0]["link"] == "down", what="the link is seen to be down")
    finally:
        lab.net.ip("router", "link set to-wan up\nroute replace 203.0.113.0/24 via 10.10.0.2")
        lab.net.ip("router", "address replace fd00:10::1/64 dev to-wan nodad\n"
                             "route replace 2001:db8:5::/64 via fd00:10::2")
    until(lambda: made.json("status")["ports"][0]["link"] == "up", what="the link is seen to be up")
    nothing_failed(lab.load(connections=10, requests=1, count=100).finish())
    nothing_failed(lab.load("v6v6", connections=10, requests=1, count=100).finish())


def test_forwarding_of_the_host_is_allowed(lab, made):
    """Its kernel never sees a service's packet, so it may be a router."""
    lab.net.sysctl("director", **{"net.ipv4.ip_forward": 1})
    try:
        made.director_file.write_text(toml(made.home, "af_xdp"))
        made.start()
        nothing_failed(lab.load(connections=10, requests=1, count=200).finish())
    finally:
        lab.net.sysctl("director", **{"net.ipv4.ip_forward": 0})


# -- refusals ------------------------------------------------------------------------------------------------


def refused(lab, made, pattern):
    result = lab.net.run("director", made.argv(), check=False, timeout=20)
    one_sentence(result, "guidewayd", 1, pattern)


def test_a_foreign_program_stays_and_is_named(lab, made):
    agent = [lab.programs / "guideway-agent"]
    lab.net.run("director", agent + ["attach", "wan", "--director", "10.10.0.9", "--service", "203.0.113.10"])
    try:
        refused(lab, made, r'.*port wan \(af_xdp:wan\): another XDP program \("receive"\) is on the interface; take it off .*')
        assert xdp_program(lab) == "receive", "somebody else's program was taken off"
    finally:
        lab.net.run("director", agent + ["detach", "wan"])


def test_a_second_director_on_the_interface_is_refused(lab, made, tmp_path):
    made.start()
    (tmp_path / "second").mkdir()
    second = lab.director(home=tmp_path / "second")
    second.write_files(site_toml(), toml(second.home).replace("9464", "9465"))
    refused(lab, second, r".*port wan \(af_xdp:wan\): another guidewayd \(process \d+\) uses wan already; stop that one, .*")
    nothing_failed(lab.load(connections=10, requests=1, count=100).finish())


@pytest.mark.parametrize("options,pattern", [
    ({"workers": (0, 1), "queues": 2}, r".*port wan \(af_xdp:wan\): 2 queues are asked for, DPDK binds to 1 here; .*"),
    ({"outside_mtu": 4000}, r".*port wan \(af_xdp:wan\): .*mtu 4000.*"),
], ids=["too many queues", "an MTU beyond a page"])
def test_what_the_interface_cannot_do_is_refused(lab, made, options, pattern):
    made.director_file.write_text(toml(made.home, **options))
    refused(lab, made, pattern)
    assert xdp_program(lab) is None
    assert ping(lab, HOST_V4)


def test_an_mtu_that_the_other_end_exceeds_is_refused(lab, made):
    lab.net.ip("router", "link set to-wan mtu 9000")
    try:
        refused(lab, made, r".*port wan \(af_xdp:wan\): the MTU of wan or of its other end is too large for XDP; .*")
    finally:
        lab.net.ip("router", f"link set to-wan mtu {MTU_OUTSIDE}")
        lab.net.ip("director", f"link set wan mtu {MTU_OUTSIDE}")
