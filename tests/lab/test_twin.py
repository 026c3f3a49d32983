"""The TAP twin: the host lives on a NIC that DPDK owns.

af_packet plays the NIC; an nft ingress drop keeps its frames from the kernel, as on a NIC that the kernel does not see.
All that the host does (ARP, ND, ping, TCP, the backends' neighbours) then crosses the twins.
"""
import pytest

from checks import nothing_failed, until
from director import DIRECTOR_TOML
from lab import BUILD, Lab
from servers import start_web
from topology import BACKENDS, DIRECTOR_V4, DIRECTOR_V6, MTU_INSIDE, MTU_OUTSIDE


def twin_toml(director):
    out = DIRECTOR_TOML.format(v4=DIRECTOR_V4, v6=DIRECTOR_V6, workers=[1], home=director.home, device="af_packet",
                               outside=MTU_OUTSIDE, inside=MTU_INSIDE, queues=1)
    for port in ("wan", "lan"):
        out = out.replace(f'device = "af_packet:{port}"\n',
                          f'device = "af_packet:{port}"\nkernel_interface = "gw-{port}"\ntwin = true\n')
    return out


def hide_from_the_kernel(net):
    """No addresses on the NICs, and nothing that comes in at them reaches the kernel."""
    net.ip("director", "address flush dev wan\naddress flush dev lan")
    net.run("director", ["ip", "-6", "route", "flush", "proto", "boot"])
    net.run("director", ["nft", "-f", "-"], input="""
        table netdev mute {
          chain wan { type filter hook ingress device "wan" priority 0; policy drop; }
          chain lan { type filter hook ingress device "lan" priority 0; policy drop; }
        }""")


def settle_the_host(net):
    net.ip("director", f"""
        address add 10.10.0.2/24 dev gw-wan
        address add fd00:10::2/64 dev gw-wan nodad
        address add {DIRECTOR_V4}/24 dev gw-lan
        address add {DIRECTOR_V6}/64 dev gw-lan nodad
        link set gw-wan up
        link set gw-lan up
        route add default via 10.10.0.1
        route add default via fd00:10::1
        route add 10.30.0.0/24 via 10.20.0.254
        route add fd00:30::/64 via fd00:20::254
    """)


@pytest.fixture(scope="module")
def twin(lab):
    with Lab(f"{lab.net.lab}twin", BUILD) as made:
        made.up(backends=("b1", "b3"))
        (made.net.run_dir / "owner").write_text((lab.net.run_dir / "owner").read_text())
        hide_from_the_kernel(made.net)
        director = made.director()
        director.write_files(None, twin_toml(director))
        made.the_director = director.start()
        settle_the_host(made.net)
        yield made
        print(director.log()[-6000:])


def ping(net, role, address):
    return net.run(role, ["ping", "-c", "3", "-i", "0.2", "-W", "2", address], check=False).returncode == 0


@pytest.mark.parametrize("address", ["10.10.0.2", "fd00:10::2"])
def test_arp_nd_and_ping_reach_the_host(twin, address):
    until(lambda: ping(twin.net, "client", address), what=f"ping of {address}")


@pytest.mark.parametrize("address", [BACKENDS["b1"][0], BACKENDS["b1"][1], BACKENDS["b3"][0]])
def test_the_host_reaches_the_backends(twin, address):
    until(lambda: ping(twin.net, "director", address), what=f"ping of {address} from the director")


@pytest.mark.parametrize("url", ["http://10.10.0.2:8080/files/random", "http://[fd00:10::2]:8080/files/random"])
def test_tcp_of_the_host_crosses_the_twin(twin, url, tmp_path):
    if "web-director" not in twin.net.processes:
        start_web(twin.net, "director", twin.file.path.parent)
    twin.net.run("client", ["curl", "-sS", "--globoff", "--max-time", "20", "-o", tmp_path / "got", url])
    assert (tmp_path / "got").read_bytes() == twin.file.path.read_bytes()


@pytest.mark.parametrize("service", ["v4v4", "v6v6"])
def test_services_work_beside_it(twin, service):
    def resolved():
        return all(hop["state"] == "resolved" for hop in twin.the_director.json("status")["next_hops"]
                   if hop["address"] in BACKENDS["b1"] + BACKENDS["b3"])

    # b2 is not in this lab: its health check finds that.
    until(lambda: resolved() and "b2" not in twin.the_director.rows("web6" if service == "v6v6" else "web"), seconds=15,
          what="next hops by way of the twin")
    nothing_failed(twin.load(service, connections=10, requests=1, count=300).finish())


def test_the_twins_bear_the_ports_macs(twin):
    for port in ("wan", "lan"):
        assert twin.net.mac("director", f"gw-{port}") == twin.net.mac("director", port)
