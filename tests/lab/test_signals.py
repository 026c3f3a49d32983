"""SIGTERM and SIGINT end a director in order, also while it still starts."""
import signal
import time

import pytest

from checks import until
from director import site_toml

SLOW = site_toml().replace("10.20.0.12", "10.20.0.99").replace(  # nobody answers there
    'interval = "400ms", timeout = "400ms"', 'interval = "20s", timeout = "20s"')


def begin(lab, tmp_path, site):
    """A director that has been started and not been waited for."""
    made = lab.director(home=tmp_path / "director")
    made.write_files(site)
    made.process = lab.net.start("director", "guidewayd", made.argv())
    until(lambda: hears(made.process.pid), what="its first step, which is to hear signals")
    return made


def hears(pid):
    with open(f"/proc/{pid}/status") as file:
        blocked = next(int(line.split()[1], 16) for line in file if line.startswith("SigBlk"))
    return blocked >> (signal.SIGTERM - 1) & 1


def ended(made, number):
    """Seconds from the signal to the end, which is in order."""
    at = time.monotonic()
    made.process.signal(number)
    made.process.wait(20)
    took = time.monotonic() - at
    assert made.process.child.poll() == 0, made.log()[-2000:]
    assert not made.socket.exists(), "the socket stayed"
    return took


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_does_not_wait_for_the_world_first(lab, tmp_path, number):
    """Up to a second for neighbours and three for verdicts are spent before it says that it serves."""
    made = begin(lab, tmp_path, SLOW)
    try:
        until(lambda: "site: epoch 1" in made.log(), what="the first steps")
        took = ended(made, number)
        assert "serves on" not in made.log(), "it was up already; this shows nothing"
        assert f"{number.name}: ending" in made.log()
        assert took < 2, f"{took:.1f} s"
    finally:
        made.stop()
        lab.reset_log("guidewayd")


def test_at_any_moment_of_the_start(lab, tmp_path):
    """The first seatings and rows of a large site take seconds."""
    pool = site_toml().split("[[pool]]")[1]
    many = "".join(f'[[pool]]{pool.replace("web", f"more{i}")}' for i in range(150))
    for delay in (0.1, 0.4, 0.8, 1.6):
        made = begin(lab, tmp_path / str(delay), site_toml() + many)
        try:
            time.sleep(delay)
            took = ended(made, signal.SIGTERM)
            print(f"after {delay} s: ended in {took:.2f} s")
            assert took < 10, f"after {delay} s: {took:.1f} s"
            assert "serves on" not in made.log() or delay > 1, "it was up already; this shows nothing"
        finally:
            made.stop()
            lab.reset_log("guidewayd")
