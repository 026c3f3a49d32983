"""deploy/lab, deploy/quickstart and deploy/install-packages as a person types them: nothing happens by mistake."""
import os
import subprocess
import time

import pytest

from lab import ROOT
from namespaces import RUN_ROOT, Namespaces


def run(program, *words):
    return subprocess.run([ROOT / "deploy" / program, *words], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("program", ["lab", "quickstart", "install-packages", "test"])
def test_help_is_help_and_does_nothing(program):
    said = run(program, "--help")
    assert said.returncode == 0 and f"deploy/{program}" in said.stdout and said.stderr == ""


@pytest.mark.parametrize("program,words", [("lab", ["up"]), ("lab", ["status"]), ("quickstart", []),
                                           ("quickstart", ["--keep"]), ("install-packages", []), ("test", [])])
def test_a_wrong_option_is_refused_before_anything_is_done(program, words):
    began = time.monotonic()
    said = run(program, *words, "--bogus")
    assert said.returncode == 2 and "--bogus" in said.stderr
    assert "building" not in said.stdout and time.monotonic() - began < 20


@pytest.fixture
def half():
    """A lab of which there is one namespace."""
    if os.geteuid() != 0:
        pytest.skip("the lab needs root, for network namespaces and eBPF")
    net = Namespaces(f"half{os.getpid()}")
    net.add("client")
    net.start("client", "sleeper", ["sleep", "60"])
    yield net
    net.clean()


def test_a_lab_that_is_up_is_not_made_anew_without_a_word(half):
    said = run("lab", "--name", half.lab, "up")
    assert said.returncode == 1 and "is up already" in said.stderr
    assert f"deploy/lab --name {half.lab} down" in said.stderr and "up --again" in said.stderr
    assert half.present() == ["client"] and half.recorded()[0].alive()


def test_status_tells_of_what_is_there(half):
    half.start("client", "brief", ["true"]).wait(10)
    half.forget_ended()
    said = run("lab", "--name", half.lab, "status")
    assert said.returncode == 0 and half.name("client") in said.stdout
    assert "sleeper: running" in said.stdout and "brief" not in said.stdout


def test_a_role_that_is_not_there(half):
    said = run("lab", "--name", half.lab, "exec", "director", "true")
    assert said.returncode == 1 and "has no director; it has client" in said.stderr


@pytest.mark.parametrize("words", [["status"], ["guideway", "status"], ["exec", "client", "true"]], ids=lambda w: w[0])
def test_a_lab_that_is_not_up_says_how_to_make_it(words):
    if os.geteuid() != 0:
        pytest.skip("the lab needs root, for network namespaces and eBPF")
    said = run("lab", "--name", "nosuch", *words)
    assert said.returncode == 1
    assert said.stderr == "deploy/lab: lab nosuch is not up; make it with: deploy/lab --name nosuch up\n"
    assert not (RUN_ROOT / "nosuch").exists()


def test_down_leaves_nothing(half):
    said = run("lab", "--name", half.lab, "down")
    assert said.returncode == 0 and not half.present() and not half.run_dir.exists()
    assert not RUN_ROOT.exists() or any(RUN_ROOT.iterdir())
