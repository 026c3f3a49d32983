"""Public captures through the pipeline, each with the verdicts that its packets deserve. No root needed.

The service addresses are the destinations that a capture's clients, or the routers of its ICMP errors, send to; all
ports of TCP and UDP belong to the services, and what is no TCP or UDP is dropped (unmatched = "drop").
"""
import ipaddress
import json
import os
import pathlib
import struct
import subprocess

import pytest
from scapy.utils import RawPcapReader, RawPcapWriter

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAPTURES = ROOT.parent / "shared" / "pcaps"
REPLAY = pathlib.Path(os.environ.get("GUIDEWAY_BUILD", ROOT / "build")) / "src" / "replay" / "guideway-replay"

# Addresses that no service can have are exchanged for these.
V4, V6 = "203.0.113.10", "2001:db8:2::10"
ETHERNET, DIRECTOR_MAC = 1, bytes.fromhex("026777000000")

# name: (service addresses, {address in the capture: another}, verdicts)
TABLE = {
    "bad4-hdr-length": (["45.33.127.156"], {}, {"bad_ip_header": 1}),
    "bad4-ihl": (["136.255.115.116"], {}, {"bad_ip_length": 1}),
    "bad6-frag-truncated": (["2243:80:1400:100:19:ffff:ffff:fffb"], {}, {"truncated": 1}),
    "bad6-version": (["2001:db8:2::10"], {}, {"kernel": 2, "bad_ip_version": 2}),
    "cksum4-tcp-bad": ([V4], {"127.0.0.1": V4}, {"forward": 1}),
    "cksum6-udp-bad": (["2001:4f8:4:7:2e0:81ff:fe52:9a6b"], {}, {"forward": 1}),
    "frag4-syn": (["10.0.0.5"], {}, {"forward": 2}),
    "frag4-tcp": (["131.243.1.10"], {}, {"forward": 5}),
    "frag6-atomic-exthdrs": (["2001:db8:1::1"], {}, {"forward": 18, "kernel": 20}),
    "frag6-dns": (["2001:470:1f11:81f:d138:5f55:6d4:1fe2"], {}, {"forward": 4, "kernel": 3, "fragment": 1}),
    "icmp4-frag-needed-smtp": (["10.10.1.4"], {}, {"forward": 30, "kernel": 95}),
    "icmp4-port-unreach": (["192.168.1.1"], {}, {"forward": 1}),
    "icmp4-time-exceeded": (["10.0.0.2"], {}, {"forward": 1}),
    "icmp6-mixed": (["3ffe:507:0:1:200:86ff:fe05:80da"], {}, {"forward": 12, "kernel": 37}),
    "icmp6-packet-too-big": ([V6], {"fe80::beef": V6}, {"forward": 1}),
    "icmp6-unreach-exthdr-udp": ([V6], {"fe80::beef": V6}, {"forward": 1}),
    "ip4-options-syn": (["4.5.6.7"], {}, {"forward": 1}),
    "qinq-http": (["192.150.187.43"], {}, {"forward": 7, "kernel": 7}),
    "quic-v1-initials": (["110.213.53.115"], {}, {"forward": 9, "kernel": 10}),
    "quic-version-negotiation-null": ([V6], {"::1": V6}, {"forward": 25}),
    "tcp4-accecn-handshake": (["66.228.43.12"], {}, {"forward": 3, "kernel": 3}),
    "tcp4-options": (["193.1.193.64"], {}, {"forward": 3, "kernel": 1}),
    "tcp4-rst-inject": (["1.2.0.3"], {}, {"forward": 4, "kernel": 5}),
    "tcp4-syn-synack": (["192.150.187.43"], {}, {"forward": 1, "kernel": 1}),
    "tcp6-ftp": (["2001:6f8:200:1::5:33"], {}, {"forward": 19, "kernel": 18}),
    "tun-4in4": (["5.6.7.8"], {}, {"unmatched": 1}),
    "tun-ipip-tcp": (["10.1.0.237"], {}, {"kernel": 3, "unmatched": 3}),
    "udp4-dns": (["209.87.249.18"], {}, {"forward": 1, "kernel": 1}),
    "udp4-zero-cksum-geneve": (["192.168.100.3"], {}, {"forward": 1}),
    "vlan-http": (["192.150.187.43"], {}, {"forward": 7, "kernel": 7}),
}


def exchanged(frame, addresses, linktype):
    """The frame with its addresses exchanged, in quotes too, and an IPv4 header checksum that still holds; to one host,
    where it was to all (such frames are the kernel's, unread)."""
    out = frame
    if linktype == ETHERNET and frame[0] & 1:
        out = DIRECTOR_MAC + frame[6:]
    for old, new in addresses.items():
        out = out.replace(ipaddress.ip_address(old).packed, ipaddress.ip_address(new).packed)
    if out[12:] != frame[12:] and out[12:14] == b"\x08\x00":
        size = 14 + out[14] % 16 * 4
        head = out[14:24] + b"\0\0" + out[26:size]
        total = sum(struct.unpack(f"!{len(head) // 2}H", head))
        while total > 0xffff:
            total = (total & 0xffff) + (total >> 16)
        out = out[:24] + struct.pack("!H", ~total & 0xffff) + out[26:]
    return out


def site(addresses):
    text = 'hash_seed = "0x5eed"\n[[pool]]\nname = "web"\nrows = 251\n'
    text += "".join(f'[[pool.backend]]\nname = "b{i}"\naddress = "10.99.1.{i}"\n' for i in range(1, 6))
    for index, (address, protocol) in enumerate((a, p) for a in addresses for p in ("tcp", "udp")):
        text += (f'[[service]]\nname = "s{index}"\naddress = "{address}"\nprotocol = "{protocol}"\nports = "any"\n'
                 'pool = "web"\nunmatched = "drop"\n')
    return text


def replay(folder, name):
    addresses, exchange, _ = TABLE[name]
    reader = RawPcapReader(str(CAPTURES / f"{name}.pcap"))
    with RawPcapWriter(str(folder / "in.pcap"), linktype=reader.linktype) as writer:
        writer.write_header(None)
        for data, meta in reader:
            writer.write_packet(exchanged(data, exchange, reader.linktype), sec=meta.sec, usec=meta.usec,
                                wirelen=meta.wirelen)
    reader.close()
    (folder / "site.toml").write_text(site(addresses))
    done = subprocess.run([REPLAY, "--site", folder / "site.toml", "--in", folder / "in.pcap", "--out", folder / "out.pcap",
                           "--report", folder / "report.json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "report.json").read_text())


def verdicts_of(report):
    counted = {**report["verdicts"]["pass"], **report["verdicts"]["drop"]}
    return {name: value["packets"] for name, value in counted.items() if value["packets"]}


@pytest.mark.parametrize("name", TABLE)
def test_verdicts(name, tmp_path):
    if not REPLAY.exists():
        pytest.skip(f"not built: {REPLAY}")
    if not CAPTURES.exists():
        pytest.skip("the captures (../shared/pcaps) are not there")
    report = replay(tmp_path, name)
    found = verdicts_of(report)
    assert found == TABLE[name][2]
    assert sum(found.values()) == report["packets_in"]
    assert report["connections"]["broken"] == 0


def test_every_capture_is_in_the_table():
    if not CAPTURES.exists():
        pytest.skip("the captures (../shared/pcaps) are not there")
    assert {path.stem for path in CAPTURES.glob("*.pcap")} == set(TABLE)
