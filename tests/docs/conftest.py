"""What the documents are held against: the programs of the build."""
import os
import pathlib
import subprocess

import pytest

from documents import ROOT

BUILD = pathlib.Path(os.environ.get("GUIDEWAY_BUILD", ROOT / "build"))
PLACES = {"guidewayd": "src/daemon", "guideway": "src/cli", "guideway-agent": "src/agent", "guideway-replay": "src/replay"}


@pytest.fixture(scope="session")
def build():
    missing = [name for name, place in PLACES.items() if not (BUILD / place / name).exists()]
    if missing:
        pytest.skip(f"not built in {BUILD}: {', '.join(missing)}")
    return BUILD


@pytest.fixture(scope="session")
def run(build):
    """run("guideway", "check", FILE): one of the programs, run to its end."""
    def run(name, *words):
        return subprocess.run([build / PLACES[name] / name, *map(str, words)], capture_output=True, text=True, timeout=60)
    return run
