"""Datagrams in fragments through a service, over real interfaces: they reach one backend, which puts them together."""
import socket
import threading

import pytest

from checks import counts, nothing_lost
from director import site_toml
from reroute import socket_in
from topology import SERVICES

PORT = 5353
BACKENDS = ("b1", "b2", "b3")
UDP_SERVICES = "".join(
    f'[[service]]\nname = "{name}"\naddress = "{address}"\nprotocol = "udp"\nports = [{PORT}]\npool = "web"\n'
    for name, address in (("u4", SERVICES["v4v4"]), ("u6", SERVICES["v6v4"])))


class Echo:
    """On a backend: answers each datagram with the backend's name and the datagram's size."""

    def __init__(self, net, backend, address):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.name = backend.encode()
        self.socket = socket_in(net.name(backend), lambda: socket.socket(family, socket.SOCK_DGRAM))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((address, PORT))
        self.socket.settimeout(0.2)
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ending.is_set():
            try:
                data, sender = self.socket.recvfrom(65536)
            except TimeoutError:
                continue
            self.socket.sendto(b"%s %d" % (self.name, len(data)), sender)

    def stop(self):
        self.ending.set()
        self.thread.join()
        self.socket.close()


@pytest.mark.parametrize("address", [SERVICES["v4v4"], SERVICES["v6v4"]], ids=["IPv4", "IPv6"])
def test_a_datagram_in_fragments_reaches_one_backend(lab, new_director, address):
    director = new_director(site=site_toml() + UDP_SERVICES)
    before = counts(director, lab, BACKENDS)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    servers = [Echo(lab.net, backend, address) for backend in BACKENDS]
    try:
        for size in (100, 4000, 9000, 30000):
            answered = set()
            for _ in range(10):
                with socket_in(lab.net.name("client"), lambda: socket.socket(family, socket.SOCK_DGRAM)) as client:
                    client.settimeout(3)
                    client.sendto(bytes(size), (address, PORT))
                    name, received = client.recv(100).split()
                    assert int(received) == size
                    answered.add(name)
            assert len(answered) > 1, "flows of their own each"
    finally:
        for server in servers:
            server.stop()
    delta = nothing_lost(director, lab, before, BACKENDS)
    assert delta["forward"] >= 10 * (1 + 3 + 7 + 21)
