"""Stand-in for the director: wraps in GUE what the client sends to the service address, for the hops a test names.

Written from the words of the design and of glb-director's frame, by other code than the product's.
"""
import collections
import socket
import struct
import threading

from reroute import packet_socket, socket_in

GUE_PORT = 19523
Host = collections.namedtuple("Host", "addresses mac")


def packed(address):
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data[:len(data) // 2 * 2]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ip_packet(source, destination, protocol, payload):
    if ":" in source:
        return struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64) + packed(source) + packed(destination) + payload
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0)
    head += packed(source) + packed(destination)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def transport(source, destination, protocol, payload, at):
    """The L4 packet with its checksum, which lies at `at`, put in."""
    pseudo = packed(source) + packed(destination) + struct.pack("!II", len(payload), protocol)
    return payload[:at] + struct.pack("!H", checksum(pseudo + payload)) + payload[at + 2:]


def tcp_packet(source, destination, source_port, destination_port, flags, sequence, acknowledged=0, data=b""):
    segment = struct.pack("!HHIIBBHHH", source_port, destination_port, sequence & 0xffffffff,
                          acknowledged & 0xffffffff, 0x50, flags, 64000, 0, 0) + data
    return ip_packet(source, destination, 6, transport(source, destination, 6, segment, 16))


def gue_packet(source, hops, inner, summed=False):
    """The outer packet; hops[0] is its destination, the others are listed."""
    v6 = ":" in source
    listed = b"".join(packed(hop) for hop in hops[1:])
    gue = struct.pack("!BBHHBB", 1 + len(listed) // 4, 41 if inner[0] >> 4 == 6 else 4, 0, 1 if v6 else 0, 0,
                      len(hops) - 1) + listed + inner
    udp = struct.pack("!HHHH", 0xc123, GUE_PORT, 8 + len(gue), 0) + gue
    if summed:
        udp = transport(source, hops[0], 17, udp, 6)
    return ip_packet(source, hops[0], 17, udp)


class Director:
    """`hops`: names of backends, in order; `outer`: 4 or 6; both may change at any time."""

    def __init__(self, net, hosts):
        self.hosts, self.host = hosts, hosts["director"]
        self.socket = socket_in(net.name("director"), lambda: packet_socket("eth0"))
        self.socket.settimeout(0.1)
        self.stopping = False
        self.reset()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def reset(self):
        self.hops, self.outer, self.summed, self.sent = ["a"], 4, False, 0

    def run(self):
        while not self.stopping:
            try:
                frame, about = self.socket.recvfrom(65536)
            except TimeoutError:
                continue
            if about[2] == socket.PACKET_OUTGOING or frame[:6] != self.host.mac:
                continue
            to_service = (frame[12:14] == b"\x08\x00" and frame[30:34] == packed("10.77.100.1") or
                          frame[12:14] == b"\x86\xdd" and frame[38:54] == packed("fd77:100::1"))
            if to_service:
                self.wrap(frame[14:])

    def wrap(self, inner, hops=None):
        """Sends one inner packet on its way."""
        hops = hops or self.hops
        outer = gue_packet(self.host.addresses[self.outer], [self.hosts[hop].addresses[self.outer] for hop in hops],
                           inner, self.summed)
        self.send(hops[0], outer)
        self.sent += 1

    def send(self, to, packet):
        self.socket.send(self.hosts[to].mac + self.host.mac + (b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00") +
                         packet)

    def close(self):
        self.stopping = True
        self.thread.join()
        self.socket.close()
