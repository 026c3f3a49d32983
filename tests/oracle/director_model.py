"""What a director makes of a valid packet: the expected frames, from the design's words and scapy alone.

Stateless: every pool here has its flow table off, so that a packet's way depends on its tuple and the site only. Rows
and hashes come from the second reading of contract 1, tests/tables/reference.py.
"""
import ipaddress
import pathlib
import struct
import sys

from scapy.layers.inet import IP, UDP, GRE
from scapy.layers.inet6 import IPv6
from scapy.packet import Raw

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tables"))
import reference  # noqa: E402

PORT_MAC = bytes.fromhex("026777000000")       # of replay's only port
NEXT_HOP_MAC = bytes.fromhex("02aabbccddee")  # static, in director.toml
SOURCES = {4: "192.0.2.1", 6: "2001:db8::1"}
GUE_PORT = 19523
ROWS = 251


def packed(address):
    return ipaddress.ip_address(address).packed


class Pool:
    """One pool of a site and what it does to packets."""

    def __init__(self, encapsulation, outer, hops=3, tos="copy", affinity="flow", vlan=0, mtu=9000, backends=5,
                 draining=(), seed=0x5eed, udp_checksum=False):
        self.encapsulation, self.outer, self.tos, self.affinity = encapsulation, outer, tos, affinity
        self.hops, self.vlan, self.mtu, self.seed = hops, vlan, mtu, seed
        self.draining, self.udp_checksum = draining, udp_checksum
        prefix = "10.0.1." if outer == 4 else "fd00:1::"
        self.backends = {f"b{i}": f"{prefix}{i}" for i in range(1, backends + 1)}
        members = [[name, 100] for name in self.backends]
        seating = list(reference.play_deals({"seed": hex(seed), "rows": ROWS, "deals": [
            {"states_before": {}, "members": members, "mode": "stable"}]}))[-1]
        status = {name: ["draining" if name in draining else "active", "up"] for name in self.backends}
        takes_new = set(self.backends) - set(draining)
        counted = hops if encapsulation == "gue" else 1
        self.rows = [reference.hops_of_row(seating, row, status, takes_new, counted)[0] for row in range(ROWS)]

    def site(self):
        text = (f'hash_seed = "{self.seed:#x}"\n[[pool]]\nname = "web"\nrows = {ROWS}\nhops = {self.hops}\n'
                f'encapsulation = "{self.encapsulation}"\ntos = "{self.tos}"\naffinity = "{self.affinity}"\n'
                f'flow_table = false\nudp_checksum = {str(self.udp_checksum).lower()}\n')
        for name, address in self.backends.items():
            text += f'[[pool.backend]]\nname = "{name}"\naddress = "{address}"\n'
            text += 'state = "draining"\n' if name in self.draining else ""
        for index, (address, protocol) in enumerate((a, p) for a in SERVICES.values() for p in ("tcp", "udp")):
            text += (f'[[service]]\nname = "s{index}"\naddress = "{address}"\nprotocol = "{protocol}"\nports = "any"\n'
                     'pool = "web"\n')
        return text

    def director(self):
        text = f'[director]\nsource_ipv4 = "{SOURCES[4]}"\nsource_ipv6 = "{SOURCES[6]}"\n'
        mac = ":".join(f"{byte:02x}" for byte in NEXT_HOP_MAC)
        text += f'[[port]]\nname = "wan"\ndevice = "null"\nmtu = {self.mtu}\nnext_hop_mac = "{mac}"\n'
        return text + (f"vlan = {self.vlan}\n" if self.vlan else "")

    def flow_hash(self, flow, source_port=None):
        source, destination, sport, dport, protocol = flow
        key = packed(source) + packed(destination)
        key += struct.pack("!HHB", sport if source_port is None else source_port, dport, protocol)
        return reference.xxh3(key, self.seed)

    def hops_of(self, flow):
        row_hash = self.flow_hash(flow, 0 if self.affinity == "client" else None)
        return [self.backends[name] for name in self.rows[row_hash % ROWS]]

    def wrapped(self, inner, tos, flow):
        """The packet that leaves for one inner packet: its ethertype and bytes."""
        version = inner[0] >> 4
        if self.encapsulation == "l2":
            return version, inner
        hops, flow_hash = self.hops_of(flow), self.flow_hash(flow)
        payload = Raw(inner)
        protocol = 4 if version == 4 else 41
        if self.encapsulation == "gre":
            payload, protocol = GRE(proto=0x0800 if version == 4 else 0x86dd) / payload, 47
        if self.encapsulation == "gue":
            further = b"".join(packed(hop) for hop in hops[1:])
            gue = struct.pack("!BBHHBB", 1 + len(further) // 4, protocol, 0, 0 if self.outer == 4 else 1, 0, len(hops) - 1)
            payload = UDP(sport=0xc000 | flow_hash >> 50, dport=GUE_PORT, chksum=None if self.udp_checksum else 0) / Raw(gue + further + inner)
            protocol = 17
        tos = tos if self.tos == "copy" else 0
        if self.outer == 4:
            outer = IP(src=SOURCES[4], dst=hops[0], id=0, flags="DF", ttl=64, tos=tos, proto=protocol)
        else:
            outer = IPv6(src=SOURCES[6], dst=hops[0], tc=tos, fl=(flow_hash >> 44) or 1, hlim=64, nh=protocol)
        return self.outer, bytes(outer / payload)

    def outer_size(self, flow):
        if self.encapsulation == "l2":
            return 0
        size = 20 if self.outer == 4 else 40
        if self.encapsulation == "gre":
            size += 4
        if self.encapsulation == "gue":
            size += 16 + (4 if self.outer == 4 else 16) * (len(self.hops_of(flow)) - 1)
        return size

    def frames(self, inner, tos, flow):
        """What leaves for one packet: one frame, or one a piece."""
        out = []
        for piece in pieces(inner, self.mtu - self.outer_size(flow)):
            version, packet = self.wrapped(piece, tos, flow)
            ethertype = 0x0800 if version == 4 else 0x86dd
            tag = struct.pack("!HH", 0x8100, self.vlan) if self.vlan else b""
            out.append(NEXT_HOP_MAC + PORT_MAC + tag + struct.pack("!H", ethertype) + packet)
        return out


def pieces(packet, room):
    """RFC 791: an IPv4 packet without DF in pieces of at most `room` bytes; others as they are."""
    if len(packet) <= room or packet[0] >> 4 != 4:
        return [packet]
    size = packet[0] % 16 * 4
    field = struct.unpack("!H", packet[6:8])[0]
    assert not field & 0x4000, "the generator makes no DF packet that does not fit"
    out, payload, offset = [], packet[size:], field & 0x1fff
    while payload:
        options = packet[20:size] if not out else copied_options(packet[20:size])
        header = 20 + len(options)
        here = payload if header + len(payload) <= room else payload[:(room - header) // 8 * 8]
        payload = payload[len(here):]
        more = bool(payload) or bool(field & 0x2000)
        head = bytearray(packet[:20]) + options
        head[0] = 0x40 | header // 4
        head[2:4] = struct.pack("!H", header + len(here))
        head[6:8] = struct.pack("!H", (0x2000 if more else 0) | offset)
        head[10:12] = b"\0\0"
        head[10:12] = struct.pack("!H", checksum(head))
        out.append(bytes(head) + here)
        offset += len(here) // 8
    return out


def copied_options(options):
    kept, at = b"", 0
    while at < len(options) and options[at] != 0:
        size = 1 if options[at] == 1 else options[at + 1]
        if options[at] & 0x80:
            kept += options[at:at + size]
        at += size
    return kept + bytes(-len(kept) % 4)


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", bytes(data)))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


SERVICES = {4: "203.0.113.10", 6: "2001:db8:2::10"}
