"""The lab of the tests: made once, a fresh director for each test."""
import os

import pytest

import ending
from checks import every_packet_counted
from lab import BUILD, Lab
from namespaces import RUN_ROOT, process_start

def sweep():
    """Clears labs of test runs that were killed before they could."""
    for folder in RUN_ROOT.glob("test*"):
        owner = folder / "owner"
        words = owner.read_text().split() if owner.exists() else []
        if len(words) != 2 or process_start(int(words[0])) != words[1]:
            Lab(folder.name, BUILD).down()


@pytest.fixture(scope="session")
def lab():
    if os.geteuid() != 0:
        pytest.skip("the lab needs root, for network namespaces and eBPF")
    ending.install()
    sweep()
    with Lab(f"test{os.getpid()}", BUILD) as lab:
        if lab.programs.missing():
            pytest.skip(f"not built: {', '.join(lab.programs.missing())}")
        lab.up()
        (lab.net.run_dir / "owner").write_text(f"{os.getpid()} {process_start(os.getpid())}")
        yield lab


@pytest.fixture
def programs():
    lab = Lab("unused", BUILD)
    if lab.programs.missing():
        pytest.skip(f"not built: {', '.join(lab.programs.missing())}")
    return lab.programs


@pytest.fixture
def new_director(lab, tmp_path):
    """A function that starts a director with a new state directory: new_director(site=…, director=…, …)."""
    started = []

    def start(site=None, director=None, **options):
        made = lab.director(home=tmp_path / f"director{len(started)}", **options)
        made.write_files(site, director)
        started.append(made)
        return made.start()

    yield start
    for made in started:
        ended = made.process is None or not made.process.alive()
        try:
            if not ended:
                every_packet_counted(made)
        finally:
            made.stop()
        code = made.process.child.poll() if made.process is not None else 0
        print(f"guidewayd ended with {code}\n" + made.log()[-6000:])  # shown when the test fails
        assert not ended or made.killed, "guidewayd ended on its own"
        assert made.killed or code == 0, f"guidewayd ended with {code} at SIGTERM"
    lab.reset_log("guidewayd")


@pytest.fixture
def director(new_director):
    return new_director()

