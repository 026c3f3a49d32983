"""A running director under changes, at its start and asleep: bench_director's figures, held to what no noise explains.

Times of a shared machine say little, so their bounds only catch what is broken; counts are exact.
"""
import json
import os
import subprocess

import instructions
import pytest

BENCH = instructions.BUILD / "bench" / "bench_director"
DAEMON = instructions.BUILD / "src" / "daemon" / "guidewayd"


def measured(part):
    """{figure: value} of the one part."""
    if not (BENCH.exists() and DAEMON.exists()):
        pytest.skip(f"not built: {BENCH} and {DAEMON}")
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two CPUs are needed")
    answer = subprocess.run([BENCH, "--json", "--filter", part, "--seconds", "2"], capture_output=True, text=True,
                            timeout=300)
    assert answer.returncode == 0, answer.stderr
    return {figure["what"].strip(): figure["value"] for figure in json.loads(answer.stdout)}


def test_no_packet_is_lost_and_no_worker_waits_under_100_changes_a_second():
    found = measured("1 x 100 backends")
    assert found["changes"] == 200
    assert found["packets lost"] == 0
    assert found["packets without a verdict"] == 0
    assert found["times that the worker waited"] == 0
    assert found["a drain until its first packet"] < 1000


def test_guidewayd_starts_in_a_small_multiple_of_what_dpdk_takes():
    found = measured("start")
    assert found["guidewayd beside it"] < 5


def test_a_director_without_traffic_leaves_its_core_to_others():
    found = measured("asleep")
    assert found["of a core, all threads, nothing coming in"] < 40
