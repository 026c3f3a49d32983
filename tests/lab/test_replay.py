"""Replay of public captures: what goes in is accounted for, and packets of one flow reach one backend. No root needed."""
import collections
import json
import subprocess

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.utils import PcapReader

from lab import ROOT
from wire import GUE_PORT

CAPTURES = ROOT.parent / "shared" / "pcaps"
NAMES = ["tcp4-accecn-handshake", "tcp4-options", "tcp4-rst-inject", "tcp4-syn-synack", "tcp6-ftp", "vlan-http",
         "qinq-http"]

SITE = """\
hash_seed = "0x5eed"
[[pool]]
name = "web"
rows = 251
{backends}
"""


def servers(path):
    """Where the capture's connections go: the destinations of its TCP packets with the lower port."""
    found = collections.OrderedDict()
    with PcapReader(str(path)) as packets:
        for packet in packets:
            ip = packet.getlayer(IP) or packet.getlayer(IPv6)
            if ip is None or not ip.haslayer(TCP):
                continue
            tcp = ip[TCP]
            side = (ip.dst, tcp.dport) if tcp.dport < tcp.sport else (ip.src, tcp.sport)
            found[side] = True
    return list(found)


def site_for(path):
    backends = "".join(f'[[pool.backend]]\nname = "b{i}"\naddress = "10.0.1.{i}"\n' for i in range(1, 6))
    site = SITE.format(backends=backends)
    ports = collections.OrderedDict()
    for address, port in servers(path):
        ports.setdefault(address, []).append(port)
    for index, (address, at) in enumerate(ports.items()):
        site += (f'[[service]]\nname = "s{index}"\naddress = "{address}"\nprotocol = "tcp"\nports = {sorted(at)}\n'
                 'pool = "web"\n')
    return site


def replay(programs, folder, capture, *extra):
    site = folder / "site.toml"
    site.write_text(site_for(capture))
    out, report = folder / "out.pcap", folder / "report.json"
    done = subprocess.run([programs / "guideway", "replay", "--site", site, "--in", capture, "--out", out, "--report",
                           report, *extra], capture_output=True, text=True, env=programs.environment())
    assert done.returncode == 0, done.stderr
    return out, json.loads(report.read_text())


def wrapped(path):
    """(inner flow, outer destination) of every frame that left."""
    with PcapReader(str(path)) as packets:
        for packet in packets:
            frame = bytes(packet)
            if frame[12:14] != b"\x08\x00" or frame[36:38] != GUE_PORT.to_bytes(2, "big"):
                continue
            inner = frame[42 + 4 + 4 * (frame[42] & 31):]
            ip = IP(inner) if inner[0] >> 4 == 4 else IPv6(inner)
            yield (ip.src, ip[TCP].sport, ip.dst, ip[TCP].dport), packet[IP].dst


@pytest.mark.parametrize("name", NAMES)
def test_in_is_out_and_drops_and_kernel(programs, tmp_path, name):
    capture = CAPTURES / f"{name}.pcap"
    if not capture.exists():
        pytest.skip("the captures (../shared/pcaps) are not there")
    out, report = replay(programs, tmp_path, capture)
    with PcapReader(str(capture)) as packets:
        total = sum(1 for _ in packets)
    assert report["packets_in"] == total
    verdicts = {key: value["packets"] for key, value in report["verdicts"]["pass"].items()}
    drops = {key: value["packets"] for key, value in report["verdicts"]["drop"].items()}
    assert sum(verdicts.values()) + sum(drops.values()) == total
    assert sum(drops.values()) == 0, drops
    by_flow = collections.defaultdict(set)
    left = 0
    for flow, backend in wrapped(out):
        by_flow[flow].add(backend)
        left += 1
    assert left == verdicts["forward"] > 0
    assert all(len(backends) == 1 for backends in by_flow.values()), by_flow
    assert report["connections"]["broken"] == 0


def test_a_drain_in_mid_capture_breaks_nothing(programs, tmp_path):
    capture = CAPTURES / "vlan-http.pcap"
    if not capture.exists():
        pytest.skip("the captures (../shared/pcaps) are not there")
    out, report = replay(programs, tmp_path, capture)
    backend = next(iter(wrapped(out)))[1]
    name = "b" + backend.rsplit(".", 1)[1]
    out, report = replay(programs, tmp_path, capture, "--at", f"4:backend drain web {name}")
    assert {where for _, where in wrapped(out)} == {backend}
    assert report["connections"]["broken"] == 0
