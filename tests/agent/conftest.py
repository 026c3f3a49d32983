"""The machines of the agent's lab, made once; the agents attached anew for each test."""
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lab"))

import ending  # noqa: E402
from machines import Machines  # noqa: E402
from namespaces import RUN_ROOT, Namespaces, process_start  # noqa: E402

BUILD = pathlib.Path(os.environ.get("GUIDEWAY_BUILD", ROOT / "build"))


def sweep():
    """Clears what test runs left that were killed before they could."""
    for folder in RUN_ROOT.glob("agent*"):
        owner = folder / "owner"
        words = owner.read_text().split() if owner.exists() else []
        if len(words) != 2 or process_start(int(words[0])) != words[1]:
            Namespaces(folder.name).clean()


@pytest.fixture(scope="session")
def machines():
    if os.geteuid() != 0:
        pytest.skip("needs root, for network namespaces and eBPF")
    program = BUILD / "src" / "agent" / "guideway-agent"
    if not program.exists():
        pytest.skip(f"not built: {program}")
    ending.install()
    sweep()
    net = Namespaces(f"agent{os.getpid()}")
    net.records()
    (net.run_dir / "owner").write_text(f"{os.getpid()} {process_start(os.getpid())}")
    made = Machines(net, program)
    try:
        made.build()
        yield made
    finally:
        with ending.ignored():
            made.close()
            net.clean()


@pytest.fixture
def rig(machines):
    """The machines without agents; a test that attaches gets them taken off again."""
    machines.director.reset()
    yield machines
    for backend in machines.backends.values():
        backend.agent("detach", "eth0", check=False)
