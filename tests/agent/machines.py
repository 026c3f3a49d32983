"""Machines: a client, three backends and a stand-in for the director on one LAN.

    client 10.77.0.10   director 10.77.0.2   a .11  b .12  c .13      service 10.77.100.1, fd77:100::1
    (fd77::10           fd77::2              fd77::11 …)

The stand-in wraps what the client sends to the service address for whatever hops a test names, at once. Backends run
an echo server that says who it is, and answer the client directly.
"""
import json
import selectors
import socket
import threading

from namespaces import command
from reroute import packet_socket, socket_in
from stand_in import Director, Host

SERVICE = {4: "10.77.100.1", 6: "fd77:100::1"}
PORT = 7
SILENT = {4: "10.77.0.99", 6: "fd77::99"}  # nobody's address; answers to it end at the client's interface
NUMBERS = {"client": 10, "director": 2, "a": 11, "b": 12, "c": 13}


def addresses(role):
    return {4: f"10.77.0.{NUMBERS[role]}", 6: f"fd77::{NUMBERS[role]}"}


class Backend:
    def __init__(self, net, name, program):
        self.net, self.name, self.program = net, name, program
        self.addresses = addresses(name)

    def agent(self, *words, check=True):
        return self.net.run(self.name, [self.program, *words], check=check)

    def attach(self, *words):
        peers = [address for name in "abc" if name != self.name for address in addresses(name).values()]
        return self.agent("attach", "eth0", "--director", ",".join(addresses("director").values()), "--peer",
                          ",".join(peers), "--service", ",".join(SERVICE.values()), *words)

    def status(self):
        return json.loads(self.agent("status", "eth0", "--json").stdout)["interfaces"][0]

    def counters(self):
        """Those that are not zero."""
        return {name: value for name, value in self.status()["counters"].items() if value}


class EchoServer:
    """Answers each line with the backend's name in front."""

    def __init__(self, namespace, name):
        self.name = name.encode()
        self.selector = selectors.DefaultSelector()
        self.stopping = False
        for family, address in ((socket.AF_INET, SERVICE[4]), (socket.AF_INET6, SERVICE[6])):
            listener = socket_in(namespace, lambda f=family: socket.socket(f))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, PORT))
            listener.listen(128)
            self.selector.register(listener, selectors.EVENT_READ, self.accept)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopping:
            for key, _ in self.selector.select(0.1):
                key.data(key.fileobj)

    def accept(self, listener):
        connection, _ = listener.accept()
        beginning = bytearray()  # of a line whose end has not come yet
        self.selector.register(connection, selectors.EVENT_READ, lambda _: self.answer(connection, beginning))

    def answer(self, connection, beginning):
        try:
            data = connection.recv(65536)
            if data:
                beginning += data
                lines = bytes(beginning).splitlines(keepends=True)
                beginning[:] = b"" if lines[-1].endswith(b"\n") else lines.pop()
                connection.sendall(b"".join(self.name + b" " + line for line in lines))
                if lines[-1:] != [b"bye\n"]:
                    return
        except OSError:
            pass
        self.selector.unregister(connection)
        connection.close()

    def close(self):
        self.stopping = True
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()


class Machines:
    def __init__(self, net, program):
        self.net = net
        self.backends = {name: Backend(net, name, program) for name in "abc"}
        self.a, self.b, self.c = self.backends.values()
        self.servers, self.director = [], None

    def build(self):
        self.net.add("lan", *NUMBERS)
        # A bridge takes the lowest MAC of its ports unless it has one of its own.
        self.net.ip("lan", "link add br0 address 02:00:00:00:77:01 type bridge\nlink set br0 mtu 1600 up")
        for role in NUMBERS:
            self.plug_in(role)
        for name in self.backends:
            self.make_backend(name)
        for family, service in SERVICE.items():
            self.net.ip("client", f"route add {service} via {addresses('director')[family]}")
            # The stand-in takes them off the wire; the kernel would answer that it knows no way.
            self.net.ip("director", f"route add blackhole {service}")
        self.director = Director(self.net, self.hosts())
        self.servers = [EchoServer(self.net.name(name), name) for name in self.backends]

    def plug_in(self, role):
        mtu = 1500 if role == "client" else 1600
        self.net.ip("lan", f"link add to-{role} mtu {mtu} type veth peer name eth0 mtu {mtu} netns:{role}\n"
                           f"link set to-{role} master br0 up")
        own = addresses(role)
        self.net.ip(role, f"addr add {own[4]}/24 dev eth0\naddr add {own[6]}/64 dev eth0 nodad\nlink set eth0 up")
        # What is copied off this wire must be whole packets with whole checksums, as on a real one.
        self.net.run(role, ["ethtool", "-K", "eth0", "tso", "off", "gso", "off", "tx", "off"])

    def make_backend(self, name):
        self.net.ip(name, f"addr add {SERVICE[4]}/32 dev lo\naddr add {SERVICE[6]}/128 dev lo nodad")
        self.net.sysctl(name, **{"net.ipv4.conf.all.arp_ignore": 1, "net.ipv4.conf.all.arp_announce": 2,
                                 "net.ipv4.conf.all.rp_filter": 0, "net.ipv4.conf.eth0.rp_filter": 0})
        for silent in SILENT.values():
            self.net.ip(name, f"neigh add {silent} lladdr {self.net.mac('client', 'eth0')} dev eth0 nud permanent")

    def hosts(self):
        return {role: Host(addresses(role), bytes.fromhex(self.net.mac(role, "eth0").replace(":", "")))
                for role in NUMBERS}

    def attach(self, *words):
        for backend in self.backends.values():
            backend.attach(*words)

    def delivered(self):
        """Packets that the agents have taken the wrapping off."""
        return sum(value for backend in self.backends.values()
                   for name, value in backend.status().get("counters", {}).items() if name.startswith("deliver_"))

    def connect(self, family, seconds=3):
        """A TCP connection of the client to the service."""
        return Client(socket_in(self.net.name("client"), lambda: socket.create_connection(
            (SERVICE[family], PORT), timeout=seconds)))

    def client_tap(self):
        return socket_in(self.net.name("client"), lambda: packet_socket("eth0"))

    def tc(self, role, words):
        return command(["tc", "-n", self.net.name(role), *words.split()]).stdout

    def close(self):
        if self.director is not None:
            self.director.close()
        for server in self.servers:
            server.close()


class Client:
    def __init__(self, connection):
        self.socket = connection
        self.lines = connection.makefile("rb")

    def ask(self, word="x"):
        """Who answered."""
        self.socket.sendall(word.encode() + b"\n")
        name, _, answer = self.lines.readline().decode().partition(" ")
        assert answer == word + "\n"
        return name

    def port(self):
        return self.socket.getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()
