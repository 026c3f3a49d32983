"""Layers: a part includes only headers of the parts it stands on, and DPDK only where it may.

The order is read from #include lines, not from the build: a header that is merely reachable still breaks it.
"""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# part -> parts whose headers it may include (besides its own and include/guideway).
MAY_USE = {
    "include": set(),
    "tables": set(),
    "snapshot": set(),
    "net": {"snapshot"},
    "toml": set(),
    "state": {"tables", "snapshot", "toml"},
    "dataplane": {"net", "snapshot"},
    "io": {"net", "snapshot", "dataplane", "state", "bpf"},
    "command": {"tables", "snapshot", "net", "toml", "state"},
    "control": {"tables", "snapshot", "net", "toml", "state", "command"},
    "daemon": {"tables", "snapshot", "net", "toml", "state", "dataplane", "io", "command", "control"},
    "cli": {"tables", "snapshot", "net", "toml", "state", "command", "control"},
    "replay": {"tables", "snapshot", "net", "state", "dataplane", "io", "command"},
    "bpf": {"net"},
    "agent": {"bpf", "net", "toml"},
}

# DPDK headers by part; a part that is not named includes none.
MBUF_AND_RCU = {
    "rte_mbuf.h", "rte_mbuf_core.h", "rte_mempool.h", "rte_prefetch.h", "rte_byteorder.h", "rte_branch_prediction.h",
    "rte_common.h", "rte_rcu_qsbr.h", "rte_ether.h", "rte_ip.h", "rte_tcp.h", "rte_udp.h", "rte_pause.h", "rte_vect.h",
}
ANY_DPDK = None
DPDK_HEADERS = {"dataplane": MBUF_AND_RCU, "io": ANY_DPDK}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def sources():
    for top in ("include", "tables", "src"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".cpp", ".c"):
                part = path.relative_to(ROOT / "src").parts[0] if top == "src" else top
                yield part, path


SOURCES = list(sources())


def test_there_are_sources_to_look_at():
    assert len(SOURCES) > 20


@pytest.mark.parametrize("part", sorted({part for part, _ in SOURCES}))
def test_part_includes_only_what_it_stands_on(part):
    assert part in MAY_USE, f"src/{part} is not in the order of layers; give it its place in {__file__}"
    wrong = []
    for owner, path in SOURCES:
        if owner != part:
            continue
        for _, header in INCLUDE.findall(path.read_text()):
            top = header.split("/")[0]
            if top == part or top not in MAY_USE or "/" not in header:
                continue
            if top not in MAY_USE[part]:
                wrong.append(f"{path.relative_to(ROOT)} includes {header}")
    assert not wrong, f"{part} may use {sorted(MAY_USE[part])} only:\n" + "\n".join(wrong)


@pytest.mark.parametrize("part", sorted({part for part, _ in SOURCES}))
def test_dpdk_headers_stay_where_they_may(part):
    allowed = DPDK_HEADERS.get(part, set())
    if allowed is ANY_DPDK:
        return
    wrong = [f"{path.relative_to(ROOT)} includes {header}"
             for owner, path in SOURCES if owner == part
             for _, header in INCLUDE.findall(path.read_text())
             if header.startswith(("rte_", "ethdev_")) and header not in allowed]
    assert not wrong, "\n".join(wrong)


def test_the_table_has_no_cycle():
    done = []
    rest = dict(MAY_USE)
    while rest:
        ready = [part for part, uses in rest.items() if uses <= set(done)]
        assert ready, f"cycle among {sorted(rest)}"
        done += ready
        for part in ready:
            del rest[part]
