"""capture = true: dpdk-dumpcap looks into a running director, as docs/configuration.md says.

Needs hugepages, which this test sets aside for as long as it runs, and a hugetlbfs.
"""
import os
import pathlib
import shutil
import subprocess

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.utils import rdpcap

from checks import nothing_failed
from topology import SERVICES

GUE_PORT = 19523
ENOUGH = 400  # packets
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
    place = pathlib.Path(mounted or "/run/gw-lab/hugepages")
    if mounted is None:
        place.mkdir()
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
            place.rmdir()


def runtime_folders():
    """Of running directors; their names are what DPDK's tools know them by."""
    return {path.parent.name for path in pathlib.Path("/run/dpdk").glob("guideway*/mp_socket")}


@pytest.fixture
def captured(lab, hugepages, tmp_path):
    """The name of the files of a director that may be looked into."""
    made = lab.director(home=tmp_path)
    made.write_files()
    made.director_file.write_text(made.director_file.read_text().replace("hugepages = false", "capture = true"))
    before = runtime_folders()
    try:
        made.start()
        (prefix,) = runtime_folders() - before
        yield prefix
    finally:
        made.stop()
        print(made.log()[-6000:])
        lab.reset_log("guidewayd")
    shutil.rmtree(f"/run/dpdk/{prefix}")  # as documented, the files stay until the next start


def capture(lab, prefix, number, file):
    """What dpdk-dumpcap writes of the port that stands `number`th in director.toml, under load, until it has enough."""
    load = lab.load(connections=5, requests=1, pause_ms=5, timeout_ms=5000)
    try:
        tool = subprocess.run(["dpdk-dumpcap", f"--file-prefix={prefix}", "-p", "-P", "-i", f"net_af_packet{number}", "-c",
                               str(ENOUGH), "-w", file], capture_output=True, text=True, timeout=40)
        assert tool.returncode == 0, tool.stderr
    finally:
        nothing_failed(load.finish(stop=True))
    return rdpcap(str(file))


def test_dumpcap_finds_the_packets(lab, captured, tmp_path):
    if shutil.which("dpdk-dumpcap") is None:
        pytest.skip("dpdk-dumpcap is not installed; deploy/install-packages brings it")
    came = [packet for packet in capture(lab, captured, 0, tmp_path / "wan.pcap")
            if TCP in packet and packet[IP].dst == SERVICES["v4v4"]]
    left = [packet for packet in capture(lab, captured, 1, tmp_path / "lan.pcap")
            if UDP in packet and packet[UDP].dport == GUE_PORT]
    # Few others are on these links: ARP, and health checks on the second.
    assert len(came) > ENOUGH * 3 / 4 and sum(packet[TCP].flags == "S" for packet in came) > ENOUGH / 20
    assert len(left) > ENOUGH / 2
    nothing_failed(lab.load(connections=5, requests=1, count=40).finish())  # and it goes on without the tool
