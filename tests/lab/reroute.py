"""Reroute: how long from a command to the first packet that goes elsewhere.

What: sends the same SYN again and again from the client's namespace (each SYN is a new decision, so each shows where
      new flows of that row go) and watches the wrapped frames at the other end of the director's lan cable, with the
      kernel's time stamps.
Why:  the time a person waits for a drain to act, measured on the wire and not in the daemon.
Cost: one SYN each 0.2 ms; the answers of the backends to the probe's source vanish in the router.
"""
import ctypes
import os
import socket
import struct
import threading
import time

from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from topology import BACKENDS, SERVICES, SILENT_CLIENT_V4

SO_TIMESTAMPNS = 35
ETH_P_ALL = 3
CLONE_NEWNET = 0x40000000
INTERVAL = 0.0002


def socket_in(namespace, make):
    """A socket made in another network namespace by a thread that goes there."""
    made = []

    def enter():
        libc = ctypes.CDLL(None, use_errno=True)
        with open(f"/run/netns/{namespace}") as file:
            if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), namespace)
        made.append(make())

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    return made[0]


def packet_socket(interface):
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    out.bind((interface, 0))
    return out


class Reroute:
    """Watches one row; `port` picks which (`guideway explain` tells a port's row)."""

    def __init__(self, net, port):
        self.port = port
        self.seen = []  # (CLOCK_REALTIME ns, outer destination)
        self.stopping = threading.Event()
        self.sender = socket_in(net.name("client"), lambda: packet_socket("eth0"))
        self.sniffer = socket_in(net.name("router"), lambda: packet_socket("to-director"))
        self.sniffer.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.sniffer.settimeout(0.2)
        self.frame = bytes(Ether(src=net.mac("client", "eth0"), dst=net.mac("router", "to-client")) / IP(src=SILENT_CLIENT_V4, dst=SERVICES["v4v4"]) /
                           TCP(sport=port, dport=80, flags="S", seq=1))
        self.threads = [threading.Thread(target=self.send), threading.Thread(target=self.watch)]
        for thread in self.threads:
            thread.start()

    def send(self):
        while not self.stopping.is_set():
            self.sender.send(self.frame)
            time.sleep(INTERVAL)

    def watch(self):
        key = struct.pack("!H", self.port)
        while not self.stopping.is_set():
            try:
                frame, extra, _, _ = self.sniffer.recvmsg(256, 64)
            except TimeoutError:
                continue
            if frame[12:14] != b"\x08\x00" or frame[23] != 17 or frame[36:38] != struct.pack("!H", 19523):
                continue
            inner = 42 + 4 + 4 * (frame[42] & 31)  # GUE's hlen
            if frame[inner + 20:inner + 22] != key or frame[inner + 33] != 2:
                continue
            seconds, nanoseconds = struct.unpack("qq", extra[0][2][:16])
            self.seen.append((seconds * 10**9 + nanoseconds, socket.inet_ntoa(frame[30:34])))

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        self.sender.close()
        self.sniffer.close()

    def backend(self):
        """Where the row goes now."""
        end = time.monotonic() + 2
        while not self.seen and time.monotonic() < end:
            time.sleep(0.005)
        return name_of(self.seen[-1][1]) if self.seen else None

    def first_elsewhere(self, since_ns, seconds=3):
        """Milliseconds from `since_ns` (time.time_ns()) to the first frame to another backend; None if there is none."""
        before = [address for at, address in self.seen if at <= since_ns]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for at, address in list(self.seen):
                if at > since_ns and before and address != before[-1]:
                    return (at - since_ns) / 1e6
            time.sleep(0.005)
        return None


def name_of(address):
    return next((name for name, pair in BACKENDS.items() if address in pair), address)
