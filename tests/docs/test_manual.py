"""The man pages: their options are those of the programs, in both directions, and they are good roff."""
import re
import shutil
import subprocess

import pytest

from documents import ROOT, read

PAGES = {"guidewayd": "guidewayd.8", "guideway-agent": "guideway-agent.8", "guideway-replay": "guideway-replay.1"}


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def help_of(run, program):
    text = run(program, "--help").stdout
    for verb in re.findall(r"^  (\w+) {4,}", text.partition("Subcommands:")[2], re.M):
        text += run(program, verb, "--help").stdout
    return text


@pytest.mark.parametrize("program", PAGES)
def test_options_are_the_program_s(run, program):
    page = re.sub(r"\\f.", "", read(f"deploy/man/{PAGES[program]}.in")).replace("\\-", "-")
    assert options_in(page) == options_in(help_of(run, program))


def test_the_agent_s_verbs_are_the_program_s(run):
    text = run("guideway-agent", "--help").stdout
    verbs = re.findall(r"^  (\w+) {4,}", text.partition("Subcommands:")[2], re.M)
    section = read("deploy/man/guideway-agent.8.in").partition(".SH VERBS")[2].partition(".SH ")[0]
    assert re.findall(r"^\.B (\w+)\n[A-Z]", section, re.M) == verbs


@pytest.mark.parametrize("page", PAGES.values())
def test_a_page_is_good_roff(page):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    said = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", ROOT / f"deploy/man/{page}.in"],
                          capture_output=True, text=True)
    assert said.stderr == ""
