"""The second chance between real kernels: what reaches whom when the hops of a row change."""
import hashlib
import random
import socket
import struct
import time

import pytest

from checks import until
from machines import PORT, SERVICE, SILENT
from namespaces import command
from reroute import packet_socket, socket_in
from silent_client import ACK, RST, SYN, Answers, silent_packet
from stand_in import checksum, ip_packet, tcp_packet, transport

both = pytest.mark.parametrize("inner", [4, 6], ids=["inner4", "inner6"])
outers = pytest.mark.parametrize("outer", [4, 6], ids=["outer4", "outer6"])


@both
@outers
@pytest.mark.parametrize("mode", ["native", "generic"])
def test_a_connection_survives_the_change(rig, mode, outer, inner):
    rig.attach("--mode", mode)
    rig.director.outer = outer
    with rig.connect(inner) as old:
        assert old.ask() == "a"
        rig.director.hops = ["b", "a"]
        assert [old.ask() for _ in range(30)] == ["a"] * 30
        with rig.connect(inner) as new:
            assert new.ask() == "b"
            rig.director.hops = ["c", "b", "a"]
            assert [(old.ask(), new.ask()) for _ in range(10)] == [("a", "b")] * 10
    b, c = rig.b.counters(), rig.c.counters()
    assert b["forward_tcp"] >= 40 and b["sent_on"] == b["forward_tcp"]
    assert c["forward_tcp"] >= 20 and c["sent_on"] == c["forward_tcp"]
    assert rig.a.status()["mode"] == mode


@outers
def test_an_outer_checksum_stays_right_on_the_way(rig, outer):
    """The next hop's kernel would not notice, so another program listens in its place: plain UDP, which checks."""
    rig.b.attach()
    rig.director.outer, rig.director.summed = outer, True
    family = socket.AF_INET if outer == 4 else socket.AF_INET6
    with socket_in(rig.net.name("a"), lambda: socket.socket(family, socket.SOCK_DGRAM)) as receiver:
        receiver.bind((rig.a.addresses[outer], 19523))
        receiver.settimeout(2)
        inner = silent_packet(4, 3000, ACK, 1, 1)
        rig.director.wrap(inner, ["b", "a"])
        data, source = receiver.recvfrom(2048)
    assert source[0] == rig.b.addresses[outer]
    assert data.endswith(inner)
    assert data[6:8] == b"\x01\x01", "the next hop is the second of one"


@both
def test_the_last_hop_resets_a_flow_that_nobody_knows(rig, inner):
    rig.attach()
    port = random.randrange(20000, 60000)
    with Answers(rig) as answers:
        rig.director.wrap(silent_packet(inner, port, ACK, 1000, 5000, b"hello\n"), ["b", "c", "a"])
        flags, sequence, _, _ = answers.next(port)
    assert flags & RST and sequence == 5000
    assert rig.b.counters()["forward_tcp"] == 1 and rig.c.counters()["forward_tcp"] == 1
    assert rig.a.counters()["deliver_no_hop"] == 1


@both
def test_a_syn_cookie_is_good_at_the_host_that_made_it(rig, inner):
    rig.attach()
    for name in rig.backends:
        rig.net.sysctl(name, **{"net.ipv4.tcp_syncookies": 2})
    try:
        with Answers(rig) as answers:
            port, isn = random.randrange(20000, 60000), 9000
            rig.director.wrap(silent_packet(inner, port, SYN, isn), ["a"])
            _, theirs, _, _ = answers.next(port)
            rig.director.wrap(silent_packet(inner, port, ACK, isn + 1, theirs + 1, b"cookie\n"), ["b", "a", "c"])
            while not (answer := answers.next(port))[3]:
                assert not answer[0] & RST
        assert answer[3] == b"a cookie\n"
        assert rig.a.counters()["deliver_cookie"] == 1
        assert rig.b.counters()["forward_tcp"] == 1
    finally:
        for name in rig.backends:
            rig.net.sysctl(name, **{"net.ipv4.tcp_syncookies": 1})


@both
def test_two_half_open_connections_do_not_kill_each_other(rig, inner):
    """A SYN sent twice with a change in between: two backends hold half a connection. The ACK belongs to one."""
    rig.attach()
    if rig.a.status()["program"] != "kernel-typed":
        pytest.skip("this kernel has no BTF; the portable program cannot tell the two apart")
    with Answers(rig) as answers:
        port, isn = random.randrange(20000, 60000), 11000
        syn = silent_packet(inner, port, SYN, isn)
        rig.director.wrap(syn, ["a"])
        of_a = answers.next(port)
        rig.director.wrap(syn, ["b", "a"])
        of_b = answers.next(port)
        assert of_a[1] != of_b[1], "two handshakes"
        rig.director.wrap(silent_packet(inner, port, ACK, isn + 1, of_a[1] + 1, b"which\n"), ["b", "a"])
        while not (answer := answers.next(port))[3]:
            assert not answer[0] & RST, "the other handshake's host reset the connection"
    assert answer[3] == b"a which\n"
    assert rig.b.counters()["of_half_open_alien"] == 1


@both
def test_errors_follow_the_flow_they_quote(rig, inner):
    rig.attach()
    with rig.connect(inner) as client, Answers(rig) as answers:
        client.ask("x")
        _, sequence, acknowledged, data = next(iter(lambda: answers.next(client.port()), None))
        while not data:
            _, sequence, acknowledged, data = answers.next(client.port())
        client_address = client.socket.getsockname()[0]
        quote = tcp_packet(SERVICE[inner], client_address, PORT, client.port(), ACK, sequence + len(data), acknowledged)
        router = {4: "10.77.0.1", 6: "fd77::1"}[inner]
        if inner == 4:
            message = struct.pack("!BBHI", 3, 4, 0, 1300) + quote
            message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
            error = ip_packet(router, SERVICE[4], 1, message)
        else:
            message = transport(router, SERVICE[6], 58, struct.pack("!BBHI", 2, 0, 0, 1300) + quote, 2)
            error = ip_packet(router, SERVICE[6], 58, message)
        rig.director.wrap(error, ["b", "a"])
        until(lambda: rig.a.counters().get("deliver_no_hop"), what="the error at a")
        assert rig.b.counters() == {"forward_icmp_error": 1, "sent_on": 1}
        route = rig.net.run("a", ["ip", "-o", "route", "get", client_address]).stdout
        assert "mtu 1300" in route, "the kernel that holds the connection has learned the size"
        rig.director.wrap(error, ["a", "b"])
        until(lambda: rig.a.counters().get("deliver_icmp_error") == 1, what="the error of a known flow")
        rig.net.run("a", ["ip", f"-{inner}", "route", "flush", "cache"])


def test_udp_and_ping_stay_with_the_first_hop(rig):
    rig.attach()
    ping = transport("10.77.0.99", SERVICE[4], 1, struct.pack("!BBHHH", 8, 0, 0, 7, 7), 2)
    rig.director.wrap(ip_packet(SILENT[4], SERVICE[4], 1, ping), ["b", "a"])
    udp = transport(SILENT[4], SERVICE[4], 17, struct.pack("!HHHH", 5000, 53, 8, 0), 6)
    rig.director.wrap(ip_packet(SILENT[4], SERVICE[4], 17, udp), ["b", "a"])
    until(lambda: rig.b.counters().get("deliver_not_tcp") == 2, what="both at b")
    assert "sent_on" not in rig.b.counters()


def test_nothing_is_lost_under_changes(rig):
    """An upload while the hops change all the time and the program is exchanged: every packet that the director sent
    was delivered once, and the data is whole."""
    rig.attach()
    data = "".join(f"{random.getrandbits(400):0100x}" for _ in range(6000))
    lines = [data[i:i + 1000] for i in range(0, len(data), 1000)]
    orders = [["a"], ["b", "a"], ["c", "b", "a"], ["a", "c"], ["b", "c", "a"]]
    digest, expected = hashlib.sha256(), hashlib.sha256()
    with rig.connect(4) as client:
        client.ask()
        for i, line in enumerate(lines):
            rig.director.hops = orders[i % len(orders)]
            if i % 100 == 50:
                for backend in rig.backends.values():
                    backend.agent("update", "eth0", "--reload")
            client.socket.sendall(line.encode() + b"\n")
            digest.update(client.lines.readline())
            expected.update(b"a " + line.encode() + b"\n")
    assert digest.digest() == expected.digest()

    until(lambda: rig.delivered() == rig.director.sent, what=f"{rig.director.sent} delivered")
    for backend in rig.backends.values():
        counters = backend.counters()
        assert counters.get("forward_tcp", 0) == counters.get("sent_on", 0)


def test_fq_does_not_hold_back_what_is_sent_on(rig):
    """fq takes a packet's time stamp for the time to send it."""
    rig.attach()
    if command(["tc", "-n", rig.net.name("b"), *"qdisc replace dev eth0 root fq".split()], check=False).returncode != 0:
        pytest.skip("this kernel has no fq")
    # Time stamps on arrival are taken only while somebody asks for them.
    asking = socket_in(rig.net.name("b"), lambda: packet_socket("eth0"))
    asking.setsockopt(socket.SOL_SOCKET, socket.SO_TIMESTAMP, 1)
    try:
        with rig.connect(4) as client:
            assert client.ask() == "a"
            rig.director.hops = ["b", "a"]
            start = time.monotonic()
            assert [client.ask() for _ in range(50)] == ["a"] * 50
            assert time.monotonic() - start < 2
    finally:
        asking.close()
        rig.tc("b", "qdisc del dev eth0 root")
