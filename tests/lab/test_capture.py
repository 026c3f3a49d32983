"""capture = true: dpdk-dumpcap looks into a running director, as docs/configuration.md says.

Needs hugepages, which this test sets aside for as long as it runs, and a hugetlbfs.
"""
import collections
import os
import pathlib
import shutil
import subprocess
import time

import pytest
from scapy.utils import PcapNgReader

from checks import nothing_failed, until
from topology import SERVICES

PAGES = 256  # of 2 MB: two ports' packet memory
SETTING = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")


def hugetlbfs():
    mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    return next((words[1] for words in mounts if words[2] == "hugetlbfs"), None)


@pytest.fixture
def hugepages():
    """Hugepages as files; as it was afterwards, the files of this test's daemon with them."""
    if os.geteuid() != 0 or not SETTING.exists():
        pytest.skip("needs root and a kernel with hugepages")
    before = int(SETTING.read_text())
    mounted = hugetlbfs()
    place = pathlib.Path(mounted or "/dev/hugepages")
    if mounted is None:
        place.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "hugetlbfs", "none", place], check=True)
    files = set(place.iterdir())
    SETTING.write_text(str(before + PAGES))
    try:
        if int(SETTING.read_text()) < before + PAGES:
            pytest.skip(f"no memory for {PAGES} hugepages")
        yield place
    finally:
        for file in set(place.iterdir()) - files:
            file.unlink()
        SETTING.write_text(str(before))
        if mounted is None:
            subprocess.run(["umount", place], check=True)


def runtime_folders():
    """Of running directors; their names are what DPDK's tools know them by."""
    return {path.parent.name for path in pathlib.Path("/run/dpdk").glob("guideway*/mp_socket")}


@pytest.fixture
def captured(lab, hugepages, new_director, tmp_path):
    """A director that may be looked into, and the name of its files."""
    sample = lab.director(home=tmp_path / "director0")  # where new_director's first one lives
    sample.write_files()
    before = runtime_folders()
    new_director(director=sample.director_file.read_text().replace("hugepages = false", "capture = true"))
    (prefix,) = runtime_folders() - before
    return prefix


def test_dumpcap_finds_the_packets(lab, captured, tmp_path):
    if shutil.which("dpdk-dumpcap") is None:
        pytest.skip("dpdk-dumpcap is not installed; deploy/install-packages brings it")
    out = {}
    for number, port in enumerate(("wan", "lan")):
        # The daemon's port is named by its driver and its place in director.toml.
        file = tmp_path / f"{port}.pcapng"
        tool = subprocess.Popen(["dpdk-dumpcap", f"--file-prefix={captured}", "-p", "-P", "-i", f"net_af_packet{number}", "-w",
                                 file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        until(lambda: file.exists() and file.stat().st_size > 0 or tool.poll() is not None, seconds=15,
              what="dpdk-dumpcap is there")
        assert tool.poll() is None, tool.stdout.read()
        time.sleep(0.3)
        nothing_failed(lab.load(connections=5, requests=1, count=40).finish())
        time.sleep(0.3)
        tool.send_signal(2)
        said = tool.communicate(timeout=20)[0]
        assert tool.returncode == 0, said
        out[port] = [packet for packet in PcapNgReader(str(file))]
    # What came in for the service, and what left, wrapped.
    syns = [packet for packet in out["wan"] if "TCP" in packet and packet["IP"].dst == SERVICES["v4v4"]
            and packet["TCP"].flags == "S"]
    assert len({packet["TCP"].sport for packet in syns}) >= 40, collections.Counter(map(str, out["wan"]))
    wrapped = [packet for packet in out["lan"] if "UDP" in packet and packet["UDP"].dport == 19523]
    assert len(wrapped) >= 160, collections.Counter(map(str, out["lan"]))
    nothing_failed(lab.load(connections=5, requests=1, count=40).finish())  # and it goes on without the tool
