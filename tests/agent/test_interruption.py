"""A test run that is ended in the middle leaves nothing on the machine."""
import os
import pathlib
import signal
import subprocess

import pytest

import ending
from checks import until
from namespaces import RUN_ROOT, Namespaces

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_it_takes_its_machines_down(machines, name):
    run = subprocess.Popen(["/usr/bin/python3", "-m", "pytest", "-p", "no:cacheprovider", "-q", HERE / "test_second_chance.py"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                           preexec_fn=ending.as_from_a_terminal)
    net = Namespaces(f"agent{run.pid}")
    try:
        until(lambda: "c" in net.present() or run.poll() is not None, seconds=60, what="machines that are being made")
        os.killpg(run.pid, getattr(signal, f"SIG{name}"))
        said = run.communicate(timeout=60)[0]
        assert run.returncode != 0 and net.present() == [] and not (RUN_ROOT / net.lab).exists(), said
    finally:
        if run.poll() is None:
            run.kill()
            run.communicate()
        net.clean()
