"""Bytes on the wire: what the director sends equals the design; what glb-director sends is understood."""
import struct

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from topology import BACKENDS, CLIENT_V4, CLIENT_V6, DIRECTOR_V4, SERVICES
from wire import Tap, flow_hash, gue_frame, is_gue, packed


# Source ports lie below the client's own ephemeral ones, so that no finished connection of another test is met.
# The director's frames are caught at the other end of its cable: what DPDK sends, its own kernel does not see.
@pytest.mark.parametrize("service,port,tos", [
    ("v4v4", 20001, 0), ("v4v4", 20002, 0xb9), ("v6v4", 20003, 0), ("v6v4", 20004, 0x2e), ("v4v6", 20005, 0x02),
    ("v6v6", 20006, 0)])
def test_a_captured_frame_equals_the_design(lab, director, service, port, tos):
    client = CLIENT_V6 if service.startswith("v6") else CLIENT_V4
    pool = "web6" if service.endswith("v6") else "web"
    family = 1 if service.endswith("v6") else 0
    if service.startswith("v6"):
        inner = IPv6(src=client, dst=SERVICES[service], tc=tos)
    else:
        inner = IP(src=client, dst=SERVICES[service], tos=tos, id=7)
    inner = bytes(inner / TCP(sport=port, dport=80, flags="S", seq=1, options=[("MSS", 1400)]))
    rows = director.json("table", "show", pool)["rows"]
    hash_value = flow_hash(client, port, SERVICES[service], 80)
    hops = [BACKENDS[name][family] for name in rows[hash_value % len(rows)]]
    with Tap(lab.net, "router", "to-director") as lan, Tap(lab.net, "client", "eth0") as eth0:
        eth0.send(Ether(src=lab.net.mac("client", "eth0"), dst=lab.net.mac("router", "to-client"),
                        type=0x86dd if service.startswith("v6") else 0x0800) / Raw(inner))
        frame = lan.first(lambda frame: is_gue(frame) and struct.pack("!HH", port, 80) in frame)
    # The router on the way took one from the TTL; the rest of the inner packet is the client's, byte for byte.
    offset = len(frame) - len(inner)
    inner_seen = frame[offset:]
    assert normalised(inner_seen) == normalised(inner)
    assert frame[14:] == gue_frame(hops, hash_value, inner_seen), "the frame differs from the design"
    gateway = lab.net.mac("r2", "up0") if hops[0] in BACKENDS["b3"] else lab.net.mac(
        next(name for name, pair in BACKENDS.items() if hops[0] in pair), "eth0")
    assert frame[:6].hex(":") == gateway
    assert frame[6:12].hex(":") == lab.net.mac("director", "lan")


def normalised(packet):
    """Without TTL and header checksum."""
    if packet[0] >> 4 == 6:
        return packet[:7] + packet[8:]
    return packet[:8] + packet[9:10] + packet[12:]


def glb_frame(lab, to, hop, inner):
    """As glb-director sends it: one alternate, UDP checksum 0, its own choice of source port."""
    protocol = 4 if bytes(inner)[0] >> 4 == 4 else 41
    gue = struct.pack("!BBHHBB", 2, protocol, 0, 0, 0, 1) + packed(BACKENDS[hop][0])
    return bytes(Ether(src=lab.net.mac("director", "lan"), dst=lab.net.mac(to, "eth0")) /
                 IP(src=DIRECTOR_V4, dst=BACKENDS[to][0], flags="DF", id=0) /
                 UDP(sport=61139, dport=19523, chksum=0) / Raw(gue + bytes(inner)))


INNERS = {
    "IPv4 inside": lambda port, flags: IP(src=CLIENT_V4, dst=SERVICES["v4v4"]) / TCP(
        sport=port, dport=80, flags=flags, seq=1000, ack=0),
    "IPv6 inside": lambda port, flags: IPv6(src=CLIENT_V6, dst=SERVICES["v6v4"]) / TCP(
        sport=port, dport=80, flags=flags, seq=1000, ack=0),
}


@pytest.mark.parametrize("kind", list(INNERS))
def test_glb_directors_syn_is_delivered(lab, kind):
    before = lab.agent("b1").counters()
    port = 21000 + list(INNERS).index(kind)
    frame = glb_frame(lab, "b1", "b2", INNERS[kind](port, "S"))
    assert frame[34:36] == struct.pack("!H", 61139)
    assert frame[42:54].hex().startswith("0204" if kind == "IPv4 inside" else "0229")
    with Tap(lab.net, "router", "to-b1") as cable, Tap(lab.net, "client", "eth0") as eth0:
        cable.send(frame)
        answer = eth0.first(lambda seen: struct.pack("!HH", 80, port) in seen)
    tcp = (IP if kind == "IPv4 inside" else IPv6)(answer[14:])[TCP]
    assert tcp.flags == "SA" and tcp.ack == 1001
    after = lab.agent("b1").counters()
    assert after["deliver_syn"] == before["deliver_syn"] + 1


@pytest.mark.parametrize("kind", list(INNERS))
def test_glb_directors_packet_of_an_unknown_flow_gets_its_second_chance(lab, kind):
    """b1 does not know the connection: the packet goes to the hop, with the index moved on and nothing else touched."""
    port = 22000 + list(INNERS).index(kind)
    frame = glb_frame(lab, "b1", "b2", INNERS[kind](port, "A"))
    with Tap(lab.net, "router", "to-b1") as first, Tap(lab.net, "router", "to-b2") as second:
        first.send(frame)
        seen = second.first(lambda seen: is_gue(seen) and struct.pack("!HH", port, 80) in seen)
    assert seen[26:34] == packed(BACKENDS["b1"][0]) + packed(BACKENDS["b2"][0])
    assert seen[42:] == frame[42:48] + b"\x01" + frame[49:], "only the next hop index may differ"
    assert seen[34:42] == frame[34:42], "the UDP header stays"
    assert seen[:6].hex(":") == lab.net.mac("b2", "eth0")
