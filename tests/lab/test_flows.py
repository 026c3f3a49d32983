"""`guideway flow`: what is listed and shown are the client's connections, and a purge of rows that stand breaks none."""
from checks import nothing_failed
from topology import SERVICES

CONNECTIONS = 120


def connections(lab):
    """The client's open connections to the service, as (client, service) endpoints."""
    lines = lab.net.run("client", ["ss", "-Htn", "state", "established", "dst", SERVICES["v4v4"]]).stdout.splitlines()
    return [tuple(line.split()[-2:]) for line in lines]


def flows_by_backend(director):
    return {line["backend"]: line for line in director.json("flow", "list", "--pool", "web")["backends"]}


def test_flows_are_counted_shown_and_purged(lab, director):
    load = lab.load(connections=CONNECTIONS, requests=0, pause_ms=50, timeout_ms=4000).wait_ready()
    before = flows_by_backend(director)
    assert sum(line["established"] for line in before.values()) == CONNECTIONS, before
    assert sum(line["all"] for line in before.values()) == CONNECTIONS, before

    open_ones = connections(lab)
    assert len(open_ones) == CONNECTIONS
    by_backend = {name: 0 for name in before}
    for client, service in open_ones:
        flow = director.json("flow", "show", "tcp", client, service)
        (entry,) = flow["entries"]
        assert entry["state"] == "established" and entry["serves"] and entry["quiet_ms"] <= 2000, flow
        assert flow["sent_to"][0] == entry["backend"] == flow["hops"][0]["backend"], flow
        by_backend[entry["backend"]] += 1
    assert by_backend == {name: line["established"] for name, line in before.items()}

    victim, count = max(by_backend.items(), key=lambda item: item[1])
    words = ("flow", "purge", "--pool", "web", "--backend", victim)
    planned = director.json("plan", *words)
    assert planned["needs_force"] and planned["found"]["established"] == count and planned["removed"] == 0
    refused = director.call(*words, check=False)
    assert refused.returncode == 1 and f"{count} open flows" in refused.stderr, refused.stderr
    assert flows_by_backend(director)[victim]["all"] == count, "a refused purge has removed flows"
    assert director.json(*words, "--force")["removed"] == count
    after = flows_by_backend(director)
    assert after.pop(victim)["all"] == 0
    assert all(line == before[name] for name, line in after.items()), "flows of other backends went as well"

    # One flow by its name: its row leads to its backend, so nothing is asked for.
    client, service = next(one for one in open_ones
                           if director.json("flow", "show", "tcp", *one)["entries"])
    assert director.json("flow", "purge", "tcp", client, service)["removed"] == 1
    assert not director.json("flow", "show", "tcp", client, service)["entries"]
    nothing_failed(load.finish(stop=True))
