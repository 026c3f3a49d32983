"""Random valid packets to the services: families, options, extension headers, tags, padding, fragments."""
import random

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_RR, IPOption_Router_Alert  # noqa: F401
from scapy.layers.inet6 import (HBHOptUnknown, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                                IPv6ExtHdrRouting, PadN)
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

from director_model import PORT_MAC, SERVICES, pieces

TOS = [0x00, 0x02, 0x03, 0xb8, 0xb9, 0xff]


class Sent:
    """One frame that goes in, and what there is to know about it."""

    def __init__(self, frame, inner, tos, flow):
        self.frame, self.inner, self.tos, self.flow = frame, inner, tos, flow


def some_bytes(rng, most):
    return rng.randbytes(rng.choice([0, 1, rng.randint(0, most), rng.randint(0, most)]))


def transport(rng, flow, most):
    _, _, sport, dport, protocol = flow
    if protocol == 17:
        # A zero checksum and a wrong one are forwarded like any other.
        udp = UDP(sport=sport, dport=dport, chksum=rng.choice([0, 0xbad, rng.randint(1, 0xffff)]))
        return udp / Raw(some_bytes(rng, most))
    options = [("MSS", 1460), ("NOP", None), ("WScale", 7), ("SAckOK", b""), ("Timestamp", (rng.getrandbits(32), 0))]
    return TCP(sport=sport, dport=dport, seq=rng.getrandbits(32), ack=rng.getrandbits(32),
               flags=rng.choice(["A", "PA", "S", "FA", "R", "SA", "SEC"]), window=rng.getrandbits(16),
               chksum=rng.choice([0xbad, rng.getrandbits(16)]), reserved=rng.randint(0, 7),
               options=rng.sample(options, rng.randint(0, 5))) / Raw(some_bytes(rng, most))


def ipv4_options(rng):
    listed = []
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        listed.append(rng.choice([IPOption_NOP(), IPOption_RR(pointer=4, routers=["0.0.0.0"] * rng.randint(1, 4)),
                                  IPOption_Router_Alert()]))
    return listed


def ipv6_extensions(rng):
    """Headers in front of the transport header, in the order of RFC 8200."""
    chain = None

    def options():
        return rng.choice([[], [PadN(optdata=bytes(rng.randint(0, 9)))],
                           [HBHOptUnknown(otype=0x1e, optdata=rng.randbytes(rng.randint(0, 12)))]])
    for header in [lambda: IPv6ExtHdrHopByHop(options=options()), lambda: IPv6ExtHdrDestOpt(options=options()),
                   lambda: IPv6ExtHdrRouting(addresses=["2001:db8::5"] * rng.randint(0, 2), segleft=0),
                   lambda: IPv6ExtHdrFragment(id=rng.getrandbits(32)),  # atomic
                   lambda: IPv6ExtHdrDestOpt(options=options())]:
        if rng.random() < 0.12:
            chain = header() if chain is None else chain / header()
    return chain


def random_flow(rng, version):
    source = f"198.51.{rng.randint(0, 255)}.{rng.randint(1, 254)}" if version == 4 else f"2001:db8:1::{rng.getrandbits(16):x}"
    return source, SERVICES[version], rng.randint(1, 65535), rng.randint(1, 65535), rng.choice([6, 17])


def in_frame(rng, inner):
    tags = None
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        tag = rng.choice([Dot1Q, Dot1AD])(vlan=rng.randint(1, 4094), prio=rng.randint(0, 7))
        tags = tag if tags is None else tags / tag
    ether = Ether(src="02:00:00:00:00:99", dst=PORT_MAC.hex(":"), type=0x0800 if inner[0] >> 4 == 4 else 0x86dd)
    if tags is not None:
        ether.type = 0x88a8 if isinstance(tags, Dot1AD) else 0x8100
        tags.lastlayer().type = 0x0800 if inner[0] >> 4 == 4 else 0x86dd
        ether = ether / tags
    head = bytes(ether)
    return head + inner + bytes(max(0, 60 - len(head) - len(inner)) if rng.random() < 0.7 else rng.randint(0, 6))


def random_packet(rng, most=600, dont_fragment=None):
    """One packet: the frames that carry it, in order."""
    version = rng.choice([4, 6])
    flow = random_flow(rng, version)
    tos = rng.choice(TOS)
    above = transport(rng, flow, most)
    if version == 4:
        flags = ("DF" if rng.random() < 0.5 else 0) if dont_fragment is None else ("DF" if dont_fragment else 0)
        # The IP header's checksum is scapy's; everything else is drawn.
        ip = IP(src=flow[0], dst=flow[1], proto=flow[4], tos=tos, ttl=rng.randint(1, 255), id=rng.getrandbits(16), flags=flags,
                options=ipv4_options(rng))
        inner = bytes(ip / above)
        cut = fragments_v4(rng, inner) if flags == 0 and rng.random() < 0.3 else [inner]
    else:
        ip = IPv6(src=flow[0], dst=flow[1], tc=tos, fl=rng.getrandbits(20), hlim=rng.randint(1, 255))
        chain = ipv6_extensions(rng)
        if rng.random() < 0.2:
            cut = fragments_v6(rng, ip, flow, bytes(above))
        else:
            if chain is None:
                ip.nh = flow[4]
            inner = bytes(ip / above if chain is None else ip / chain / above)
            cut = [inner]
    return [Sent(in_frame(rng, inner), inner, tos, flow) for inner in cut]


def fragments_v4(rng, packet):
    """The first fragment holds the whole transport header, as the packet rules want it."""
    header = packet[0] % 16 * 4
    return pieces(packet, max(header + 64, rng.randint(header + 64, header + 400)))


def fragments_v6(rng, ip, flow, l4):
    size = rng.randrange(64, 400, 8)
    if len(l4) <= size:
        size = max(64, len(l4) // 8 * 8)
    if len(l4) <= size:
        return [bytes(IPv6(**{**ip.fields, "nh": flow[4]}) / Raw(l4))]
    ident = rng.getrandbits(32)
    out = []
    for at in range(0, len(l4), size):
        more = at + size < len(l4)
        head = IPv6ExtHdrFragment(nh=flow[4], offset=at // 8, m=int(more), id=ident)
        out.append(bytes(IPv6(**{**ip.fields, "nh": 44}) / head / Raw(l4[at:at + size])))
    return out


def stream(seed):
    return random.Random(seed)
