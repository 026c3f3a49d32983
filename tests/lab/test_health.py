"""A backend whose server dies is found by its health check; its rows are taken over, and given back."""
import time

from checks import nothing_failed, shares_as_the_rows_allow, started_after, until


def health_of(director, name, pool="web"):
    return next(entry["health"] for entry in director.json("health")["backends"]
                if entry["pool"] == pool and entry["backend"] == name)


def test_a_dead_server_is_found_and_its_rows_are_taken_over(lab, director):
    until(lambda: health_of(director, "b2") == "up", what="b2 up")
    short = lab.load(connections=5, requests=1, pause_ms=5)
    time.sleep(0.3)
    lab.stop_web("b2")
    try:
        died = time.monotonic()
        until(lambda: "b2" not in director.rows(), what="rows without b2")
        found = time.monotonic_ns()
        assert health_of(director, "b2") == "down"
        assert found / 1e9 - died < 4
        time.sleep(0.3)
        report = short.finish(stop=True)
        assert set(report["failures"]) <= {"reset", "connect", "closed"}  # only while nobody knew
        late = [r for r in short.records() if r.start > found and r.outcome != "ok"]
        assert not late, f"{len(late)} connections failed after the check had found it"
        assert not started_after(short.records(), found, "b2")
    finally:
        lab.start_web("b2")
    until(lambda: health_of(director, "b2") == "up", what="b2 up again")
    report = lab.load(connections=10, requests=1, count=600).finish()
    nothing_failed(report)
    shares_as_the_rows_allow(report["connections_by_backend"], director.rows())


def test_health_by_hand_wins_over_the_check(lab, director):
    until(lambda: health_of(director, "b1") == "up", what="b1 up")
    director.call("health", "set", "web", "b1", "down")
    assert "b1" not in director.rows()
    report = lab.load(connections=10, requests=1, count=200).finish()
    nothing_failed(report)
    assert "b1" not in report["connections_by_backend"]
    director.call("health", "set", "web", "b1", "auto")
    until(lambda: director.rows().get("b1", 0) > 20000, what="b1's rows")
