"""Checks: what every lab test may demand of a run."""
import math
import time


def until(condition, seconds=5, what="the condition"):
    """Waits for it; the value it became."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what() if callable(what) else what}: not true in {seconds} s"
        time.sleep(0.02)


def nothing_failed(report):
    assert report["failed"] == 0, f"{report['failed']} failed: {report['failures']} of {report}"


def shares_as_the_rows_allow(connections, rows):
    """Each backend's connections lie within five standard deviations of its share of rows: a flow picks its row at
    random, so the count is binomial."""
    total, all_rows = sum(connections.values()), sum(rows.values())
    assert set(connections) <= set(rows), f"{connections} went to backends without rows: {rows}"
    for name, count in rows.items():
        share = count / all_rows
        allowed = 5 * math.sqrt(total * share * (1 - share))
        off = abs(connections.get(name, 0) - total * share)
        assert off <= allowed, f"{name} got {connections.get(name, 0)} of {total}, its rows say {total * share:.0f} ± {allowed:.0f}"


def started_after(records, nanoseconds, backend):
    return [record for record in records if record.start > nanoseconds and record.backend == backend]


def nothing_lost(director, lab, before, backends):
    """Packet conservation since `before` (counts(), taken at rest): every packet that came in has one verdict, none was
    dropped, and the agents took off as many wrappings as the director put on."""
    delta = {}

    def conserved():
        after = settled(director, lab, backends)
        if after is None:
            return False
        delta.update({key: after[key] - before[key] for key in after})
        # A packet that an agent sends on may wait a moment for its neighbour's address.
        return delta["forward"] == delta["delivered"]

    until(conserved, what=lambda: f"packets in = sum of the verdicts, wrapped = taken off: {delta}")
    assert delta["dropped"] == 0, f"{delta['dropped']} packets dropped: {director.json('stats')['drops']}"
    return delta


def every_packet_counted(director):
    """Packets in = the sum of the verdicts; asked until no worker is in the middle of a burst."""
    def balanced():
        stats = director.json("stats")
        seen.update(packets_in=stats["packets_in"], verdicts=sum(
            entry["packets"] for kind in ("verdicts", "drops") for entry in stats[kind].values()))
        return seen["packets_in"] == seen["verdicts"]

    seen = {}
    until(balanced, what=lambda: f"packets in = sum of the verdicts: {seen}")


def counts(director, lab, backends):
    stats = director.json("stats")
    agents = [lab.agent(name).counters() for name in backends]
    drops = sum(entry["packets"] for entry in stats["drops"].values())
    # An af_packet socket also sees what the LAN floods to others: not ours to forward.
    foreign = stats["drops"]["other_mac"]["packets"]
    return {"packets_in": stats["packets_in"],
            "verdicts": drops + sum(entry["packets"] for entry in stats["verdicts"].values()),
            "dropped": drops - foreign,
            "forward": stats["verdicts"]["forward"]["packets"],
            "delivered": sum(agent["of_gue"] for agent in agents),
            "sent_on": sum(agent["forward_tcp"] for agent in agents)}


def settled(director, lab, backends):
    """The counts once the service's traffic has come to rest and a reading met no worker in the middle of a burst;
    None before. The host's own packets (health checks, ARP) go on all the time."""
    first = counts(director, lab, backends)
    time.sleep(0.05)
    second = counts(director, lab, backends)
    rest = all(first[key] == second[key] for key in ("forward", "delivered", "dropped"))
    return second if rest and second["packets_in"] == second["verdicts"] else None
