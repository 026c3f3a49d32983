"""How the benchmark programs are asked, and how they refuse."""
import subprocess

import instructions
import pytest

PROGRAMS = ("bench_dataplane", "bench_director")


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_ends_with_0_and_a_wrong_word_with_2(name):
    program = instructions.BUILD / "bench" / name
    if not program.exists():
        pytest.skip(f"not built: {program}")
    for words, code in ((["--help"], 0), (["--nosuch"], 2), (["--filter"], 2), (["--filter", "no such case"], 2)):
        answer = subprocess.run([program, *words], capture_output=True, text=True, timeout=60)
        assert answer.returncode == code, (words, answer.stderr)
        assert answer.stdout if code == 0 else answer.stderr, words
        assert code == 0 or not answer.stdout, "no table's head before the refusal"


def test_help_names_what_bench_report_can_do():
    program = instructions.BUILD / "bench" / "bench_dataplane"
    if not program.exists():
        pytest.skip(f"not built: {program}")
    words = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60).stdout
    assert "bench/report director" in words and "bench/report all" in words


def test_the_last_line_counts_the_targets():
    program = instructions.BUILD / "bench" / "bench_dataplane"
    if not program.exists():
        pytest.skip(f"not built: {program}")
    out = subprocess.run([program, "--rounds", "1", "--filter", "stateless"], capture_output=True, text=True, timeout=60,
                         check=True).stdout.splitlines()
    met, missed = (sum(word in line.split() for line in out[:-1]) for word in ("met", "MISSED"))
    assert met + missed > 0
    assert out[-1].startswith(f"{met} of {met + missed} targets met"), out
    assert ("; missed: " in out[-1]) == (missed > 0), out[-1]
