"""Wire: frames on the lab's cables: seen, sent, and what the design says they are.

The expected bytes are put together here from the design's words, by other code than the product's.
"""
import ipaddress
import socket
import struct
import time

import xxhash

from reroute import packet_socket, socket_in
from topology import DIRECTOR_V4, DIRECTOR_V6

SEED = 0x5eed
GUE_PORT = 19523


class Tap:
    """All frames at an interface of a lab's namespace, from now on."""

    def __init__(self, net, role, interface):
        self.socket = socket_in(net.name(role), lambda: packet_socket(interface))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, frame):
        self.socket.send(bytes(frame))

    def first(self, wanted, seconds=3):
        """The first frame that `wanted` says yes to."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                frame = self.socket.recv(2048)
            except TimeoutError:
                break
            if wanted(frame):
                return frame
        raise AssertionError(f"no such frame in {seconds} s")


def packed(address):
    return ipaddress.ip_address(address).packed


def flow_hash(source, source_port, destination, destination_port, protocol=6):
    key = packed(source) + packed(destination) + struct.pack("!HHB", source_port, destination_port, protocol)
    return xxhash.xxh3_64_intdigest(key, seed=SEED)


def ones_complement(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def gue_frame(hops, hash_value, inner):
    """Outer headers (without Ethernet) of the design's section 3 before `inner`, for hops of either family."""
    tos = inner[1] if inner[0] >> 4 == 4 else (inner[0] & 15) << 4 | inner[1] >> 4
    protocol = 4 if inner[0] >> 4 == 4 else 41
    others = b"".join(packed(hop) for hop in hops[1:])
    v4 = len(packed(hops[0])) == 4
    gue = struct.pack("!BBHHBB", 1 + len(others) // 4, protocol, 0, 0 if v4 else 1, 0, len(hops) - 1) + others
    udp = struct.pack("!HHHH", 0xC000 | hash_value >> 50, GUE_PORT, 8 + len(gue) + len(inner), 0)
    payload = udp + gue + inner
    if v4:
        head = struct.pack("!BBHHHBBH", 0x45, tos, 20 + len(payload), 0, 0x4000, 64, 17, 0)
        head += packed(DIRECTOR_V4) + packed(hops[0])
        return head[:10] + struct.pack("!H", ones_complement(head)) + head[12:] + payload
    label = hash_value >> 44 or 1
    head = struct.pack("!IHBB", 6 << 28 | tos << 20 | label, len(payload), 17, 64)
    return head + packed(DIRECTOR_V6) + packed(hops[0]) + payload


def ethertype(frame):
    return frame[12:14]


def is_gue(frame):
    if ethertype(frame) == b"\x08\x00":
        return frame[23] == 17 and frame[36:38] == struct.pack("!H", GUE_PORT)
    return ethertype(frame) == b"\x86\xdd" and frame[20] == 17 and frame[56:58] == struct.pack("!H", GUE_PORT)


def text(address_bytes):
    return socket.inet_ntop(socket.AF_INET if len(address_bytes) == 4 else socket.AF_INET6, address_bytes)
