"""Connections that were closed a moment ago: what their host still answers, and what it must leave to others."""
import random

import pytest

from checks import until
from silent_client import ACK, FIN, RST, SYN, Answers, silent_packet

both = pytest.mark.parametrize("inner", [4, 6], ids=["inner4", "inner6"])


class Flow:
    """One connection of the silent client; `hops` in each call are the row's at that moment."""

    def __init__(self, rig, answers, inner, port, isn):
        self.rig, self.answers, self.inner, self.port, self.sequence = rig, answers, inner, port, isn
        self.theirs = 0

    def send(self, flags, hops, data=b""):
        packet = silent_packet(self.inner, self.port, flags, self.sequence, self.theirs if flags & ACK else 0, data)
        self.rig.director.wrap(packet, hops)
        return packet

    def open(self, hops):
        self.send(SYN, hops)
        flags, self.theirs, _, _ = self.answers.next(self.port)
        assert flags == SYN | ACK
        self.theirs += 1
        self.sequence += 1

    def ask(self, word, hops):
        """Sends a line; the line that comes back, or None if the connection is reset."""
        self.send(ACK, hops, word)
        self.sequence += len(word)
        while True:
            answer = self.answers.next(self.port)
            assert answer, "no answer"
            if answer[0] & RST:
                return None
            if answer[1] == self.theirs and answer[3]:
                self.theirs += len(answer[3])
                return answer[3]

    def be_closed(self, hops):
        """The server ends the connection; its FIN is taken and acknowledged."""
        self.ask(b"bye\n", hops)
        flags, sequence, _, _ = self.answers.next(self.port)
        assert flags & FIN and sequence == self.theirs
        self.theirs += 1
        self.send(ACK, hops)

    def close(self, hops):
        fin = self.send(FIN | ACK, hops)
        assert self.answers.next(self.port)[0] == ACK
        return fin


@pytest.fixture
def flows(rig):
    """A function that makes flows, all with one client port."""
    rig.attach()
    port = random.randrange(20000, 60000)
    with Answers(rig) as answers:
        yield lambda inner, isn: Flow(rig, answers, inner, port, isn)


def knows_numbers(rig):
    return rig.a.status()["program"] == "kernel-typed"


@both
def test_a_closed_connection_still_answers(rig, flows, inner):
    """A FIN sent again reaches the host that closed first, whichever hop it is."""
    flow = flows(inner, 7000)
    flow.open(["a"])
    flow.be_closed(["a"])
    fin = flow.close(["a"])
    rig.director.wrap(fin, ["b", "a"])
    assert flow.answers.next(flow.port)[0] == ACK
    assert rig.b.counters()["forward_tcp"] == 1
    rig.director.wrap(fin, ["a", "b"])
    until(lambda: rig.a.counters().get("deliver_time_wait") == 1, what="a packet for a TIME_WAIT socket")
    assert rig.b.counters()["forward_tcp"] == 1


@both
def test_a_newer_connection_passes_an_old_one_by(rig, flows, inner):
    """The client's port is used again within the minute; then the row goes back to where the old one ended."""
    old = flows(inner, 7000)
    old.open(["a"])
    old.be_closed(["a"])
    old.close(["a"])
    if not knows_numbers(rig):
        pytest.skip("this kernel has no BTF; the portable program cannot tell the two apart")
    new = flows(inner, 16_000_000)
    new.open(["b"])
    assert new.ask(b"one\n", ["a", "b"]) == b"b one\n"
    assert new.ask(b"two\n", ["c", "a", "b"]) == b"b two\n"
    new.be_closed(["a", "b"])
    new.close(["a", "c", "b"])
    counters = rig.a.counters()
    assert "deliver_time_wait" not in counters
    assert counters["of_time_wait_alien"] == counters["forward_tcp"] >= 5


@both
def test_a_half_closed_connection_is_its_host_s(rig, flows, inner):
    """The server has closed and forgotten its socket, the client has not: what it still sends, its kernel answers."""
    flow = flows(inner, 7000)
    flow.open(["a"])
    flow.be_closed(["a"])
    fin = flow.close(["a", "b"])
    rig.director.wrap(fin, ["a", "b"])
    assert flow.answers.next(flow.port)[0] == ACK
    assert rig.a.counters()["deliver_time_wait"] == 2
    assert "forward_tcp" not in rig.a.counters()


@both
def test_data_after_the_service_s_close_is_reset(rig, flows, inner):
    flow = flows(inner, 7000)
    flow.open(["a"])
    flow.be_closed(["a"])
    assert flow.ask(b"more\n", ["a", "b"]) is None
    assert rig.a.counters()["deliver_time_wait"] == 1
    assert "forward_tcp" not in rig.a.counters()
