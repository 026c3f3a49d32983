"""deploy/lab, deploy/quickstart and deploy/install-packages as a person types them: nothing happens by mistake."""
import os
import signal
import subprocess
import time

import pytest

import ending
from checks import until
from lab import ROOT
from namespaces import DPDK_ROOT, RUN_ROOT, Namespaces


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
    ending.install()
    net = Namespaces(f"half{os.getpid()}")
    try:
        net.add("client")
        net.start("client", "sleeper", ["sleep", "60"])
        yield net
    finally:
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
    assert said.stdout == f"lab {half.lab} is down\n"
    again = run("lab", "--name", half.lab, "down")
    assert again.returncode == 0 and again.stdout == f"there was no lab {half.lab}\n"
    assert not RUN_ROOT.exists() or any(RUN_ROOT.iterdir())


def test_a_word_that_is_missing_at_the_end_is_missed(half):
    half.add("director")
    said = run("lab", "--name", half.lab, "guideway", "backend", "list", "--site")
    assert said.returncode == 2 and "--site needs a value" in said.stderr


class Raised:
    """deploy/lab up, in a session of its own as a terminal's is."""

    def __init__(self, lab):
        self.net = Namespaces(lab)
        self.process = subprocess.Popen([ROOT / "deploy/lab", "--name", lab, "up"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True,
                                        preexec_fn=ending.as_from_a_terminal)

    def wait_for(self, what):
        until(lambda: what() or self.process.poll() is not None, seconds=60, what="a lab that is being made")
        assert self.process.poll() is None, self.process.stderr.read()

    def left(self):
        return self.net.present(), self.net.run_dir.exists()


@pytest.fixture
def raised(programs):
    if os.geteuid() != 0:
        pytest.skip("the lab needs root, for network namespaces and eBPF")
    made = Raised(f"half{os.getpid()}")
    yield made
    if made.process.poll() is None:
        made.process.kill()
    made.process.communicate()
    made.net.clean()


@pytest.mark.parametrize("signals", [["INT"], ["TERM"], ["HUP"], ["QUIT"], ["INT", "INT"], ["HUP", "TERM"]], ids="+".join)
def test_a_signal_takes_down_what_was_made_so_far(raised, signals):
    """The whole group gets it, as from a terminal: commands that run meanwhile end as well."""
    raised.wait_for(lambda: "b2" in raised.net.present())
    for name in signals:
        os.killpg(raised.process.pid, getattr(signal, f"SIG{name}"))
        time.sleep(0.1)
    words = raised.process.communicate(timeout=60)[1]
    assert raised.left() == ([], False)
    assert raised.process.returncode == 128 + getattr(signal, f"SIG{signals[0]}"), words
    assert "Traceback" not in words and f"ended by SIG{signals[0]}" in words


def test_a_signal_before_anything_is_made():
    """In the first moments, while the interpreter starts, too."""
    for delay in (0.02, 0.05, 0.1):
        process = subprocess.Popen([ROOT / "deploy/lab", "--name", f"half{os.getpid()}", "status"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=ending.as_from_a_terminal)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
        assert "tests/lab" not in said and process.returncode in (1, -signal.SIGINT, 128 + signal.SIGINT), said


def test_what_a_killed_daemon_left_goes_with_the_lab(half):
    folder = DPDK_ROOT / f"guideway-{half.lab}"
    folder.mkdir(parents=True)
    listener = ("import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); "
                "time.sleep(60)")
    daemon = half.start("client", "daemon", ["/usr/bin/python3", "-c", listener, folder / "dpdk_telemetry.v2"])
    until((folder / "dpdk_telemetry.v2").exists, what="a socket")
    half.own_dpdk_folders("client")
    daemon.kill()
    half.clean()
    assert not folder.exists()
