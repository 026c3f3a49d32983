"""A drain breaks nothing: with the flow table, and without it, where only the second chance carries old flows."""
import time

import pytest

from checks import nothing_failed, started_after, until
from director import site_toml


@pytest.fixture(params=[True, False], ids=["flow table", "no flow table"])
def loaded(request, lab, new_director):
    """A director under load: connections that stay, short ones, and a slow download; the victim serves the download."""
    class Loaded:
        pass

    out = Loaded()
    out.flow_table = request.param
    out.director = new_director(site_toml(flow_table=request.param))
    out.download = lab.download(rate="1200k")
    out.victim = out.download.backend
    out.staying = lab.load(connections=300, requests=0, pause_ms=50, timeout_ms=4000).wait_ready()
    out.short = lab.load(connections=10, requests=1, timeout_ms=4000)
    time.sleep(0.3)
    return out


def test_drain_remove_and_undrain_under_load(lab, loaded):
    director, victim = loaded.director, loaded.victim
    before = lab.agent(victim).counters()

    answer = director.json("backend", "drain", "web", victim)
    drained_at = time.monotonic_ns()
    assert answer["rows_moved"] > 20000
    assert loaded.download.running(), "the download was over before the drain; it proves nothing"
    assert director.rows().get(victim, 0) == 0
    time.sleep(0.8)

    undrain_asked_at = time.monotonic_ns()
    director.call("backend", "undrain", "web", victim)
    undrained_at = time.monotonic_ns()
    time.sleep(0.5)
    director.call("backend", "drain", "web", victim)
    again_at = time.monotonic_ns()

    assert loaded.download.finish(), "the download through the drained backend broke"
    assert loaded.download.served_by() == victim
    after = lab.agent(victim).counters()
    report = loaded.staying.finish(stop=True)
    nothing_failed(report)
    assert report["connections_by_backend"][victim] > 50
    assert after["deliver_established"] > before["deliver_established"]

    # Its flows have ended: now it can go, and nothing notices.
    if loaded.flow_table:
        until(lambda: director.call("backend", "drain", "web", victim, "--wait", "--timeout", "1s", check=False)
              .returncode == 0, seconds=20, what="the end of the drain")
    removed = director.call("backend", "remove", "web", victim, check=False)
    if loaded.flow_table:
        assert removed.returncode == 0, f"this director has seen all of its flows, and yet: {removed.stderr}"
    else:
        director.call("backend", "remove", "web", victim, "--force")
    time.sleep(0.5)
    nothing_failed(loaded.short.finish(stop=True))

    records = loaded.short.records()
    drained = [r for r in started_after(records, drained_at, victim) if r.start < undrain_asked_at - 200_000_000]
    assert not drained, f"{len(drained)} new connections to {victim} while it was drained"
    back = [r for r in started_after(records, undrained_at, victim) if r.start < again_at]
    assert back, "no new connection came back after undrain"
    assert not started_after(records, again_at, victim)


def test_without_a_flow_table_the_second_chance_carries_the_old_flows(lab, new_director):
    """Packets of old flows pass another backend first, and none is lost on the way."""
    director = new_director(site_toml(flow_table=False))
    download = lab.download(rate="2m")
    counters = [lab.agent(name).counters()["sent_on"] for name in ("b1", "b2", "b3")]
    director.call("backend", "drain", "web", download.backend)
    assert download.running()
    assert download.finish()
    sent_on = sum(lab.agent(name).counters()["sent_on"] for name in ("b1", "b2", "b3")) - sum(counters)
    assert sent_on > 10, "the download did not need the second chance; this test shows nothing"
