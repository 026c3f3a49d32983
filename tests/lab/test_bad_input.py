"""Bad input: one sentence each that says what, where and the next step; the right exit code; nothing half done."""
import os
import re
import subprocess

import pytest

from director import DIRECTOR_TOML, site_toml
from topology import DIRECTOR_V4, DIRECTOR_V6


def one_sentence(result, program, code, pattern):
    """The whole complaint is one line: PROGRAM: where: what; next."""
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert result.returncode == code, f"exit code {result.returncode}: {result.stderr}{result.stdout}"
    assert len(lines) == 1, "more than one line:\n" + result.stderr
    assert re.fullmatch(f"{program}: {pattern}", lines[0]), f"{lines[0]!r} is not {pattern!r}"
    assert "; " in lines[0], f"no next step: {lines[0]}"
    assert "core dumped" not in result.stderr and "terminate called" not in result.stderr


# -- the daemon at its start ---------------------------------------------------------------------------------


class Start:
    """One attempt to start guidewayd in the lab's director, with files that a case can spoil."""

    def __init__(self, lab, home):
        self.lab, self.home = lab, home
        self.toml = DIRECTOR_TOML.format(v4=DIRECTOR_V4, v6=DIRECTOR_V6, workers=[1], home=home, device="af_packet",
                                         outside=1500, inside=1600, queues=1)
        self.site = site_toml()
        self.before = []

    def run(self, *options):
        (self.home / "director.toml").write_text(self.toml)
        (self.home / "site.toml").write_text(self.site)
        argv = [*self.before, self.lab.programs / "guidewayd", "--director", self.home / "director.toml", "--site",
                self.home / "site.toml", *options]
        return self.lab.net.run("director", argv, check=False, timeout=20)

    def interfaces(self):
        """As the host sees them, but for their counters."""
        return self.lab.net.run("director", ["ip", "-d", "address", "show"]).stdout

    def nothing_left(self):
        assert not (self.home / "api.sock").exists(), "the socket stayed"
        assert not list((self.home / "state").rglob("site-*")), "a site was journalled by a start that failed"


def unknown_device(start):
    start.toml = start.toml.replace("af_packet:lan", "af_packet:nosuch")


def unknown_kind(start):
    start.toml = start.toml.replace("af_packet:lan", "floppy:lan")


def pci_that_is_not_there(start):
    start.toml = start.toml.replace("af_packet:lan", "0000:77:00.0")


def port_twice(start):
    start.toml = start.toml.replace('name = "lan"', 'name = "wan"')


def interface_twice(start):
    start.toml = start.toml.replace("af_packet:lan", "af_packet:wan")


def no_ethernet(start):
    start.toml = start.toml.replace("af_packet:lan", "af_packet:lo")


def tap_named_like_another(start):
    start.toml = start.toml.replace("af_packet:wan", "null").replace("af_packet:lan", "tap:wan")


def twin_without_a_name(start):
    start.toml = start.toml.replace('name = "lan"', 'name = "lan"\ntwin = true')


def twin_named_like_another(start):
    start.toml = start.toml.replace('name = "lan"', 'name = "lan"\ntwin = true\nkernel_interface = "wan"')


def no_capture_file(start):
    start.toml = start.toml.replace("af_packet:lan", "pcap:/nowhere/in.pcap")


def no_capture(start):
    start.toml = start.toml.replace("af_packet:lan", f"pcap:{start.home}/site.toml,{start.home}/out.pcap")


def too_many_queues(start):
    start.toml = start.toml.replace("queues = 1", "queues = 7")


def no_root(start):
    start.before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    start.toml = re.sub(r'"[^"]*/(api.sock|state)"', r'"/tmp/gw-nobody/\1"', start.toml)


def mistake_in_the_site(start):
    start.site = start.site.replace('address = "10.20.0.12"', 'address = "10.20.0.12"\nweight = 70000')


def unknown_key(start):
    start.site = start.site.replace("rows = 65537", "rowz = 65537")


def no_toml(start):
    start.toml = start.toml.replace("[director]", "[director")


def worker_without_a_cpu(start):
    start.toml = start.toml.replace("workers = [1]", "workers = [97]")


def metrics_for_everybody(start):
    start.toml = start.toml.replace('"127.0.0.1:9464"', '"0.0.0.0:9464"')


def backend_at_the_source(start):
    start.site = start.site.replace("10.20.0.12", DIRECTOR_V4)


STARTS = [
    ("an interface that is not there", unknown_device, r".*nosuch.*"),
    ("a kind of device that is not there", unknown_kind, r'.*director\.toml:\d+:\d+: the device is of no known form.*'),
    ("a PCI device that is not there", pci_that_is_not_there, r".*0000:77:00\.0.*"),
    ("a port's name twice", port_twice, r'.*director\.toml:\d+:\d+.*wan.*'),
    ("an interface twice", interface_twice, r".*director\.toml:\d+:\d+: device interface wan belongs to another port already.*"),
    ("an interface that is not Ethernet", no_ethernet, r".*port lan \(af_packet:lo\): lo is no Ethernet interface; .*"),
    ("a TAP interface of a name that is taken", tap_named_like_another, r".*port lan \(tap:wan\): wan is .* another interface.*"),
    ("a twin without a name", twin_without_a_name, r".*port lan \(af_packet:lan\): twin = true .*; set kernel_interface.*"),
    ("a twin of a name that is taken", twin_named_like_another, r".*port lan .*: wan is .* another interface.*kernel_interface"),
    ("a capture that is not there", no_capture_file, r".*/nowhere/in\.pcap cannot be read: No such file or directory; .*"),
    ("a capture that is none", no_capture, r".*site\.toml cannot be read: it is no capture .*; .*"),
    ("more queues than workers or device can do", too_many_queues, r".*(7|seven) .*"),
    ("no root", no_root, r".*(root|CAP_NET_RAW|right).*"),
    ("a mistake in the site", mistake_in_the_site, r".*site\.toml:\d+:\d+: weight 70000 is above 65535.*"),
    ("an unknown key", unknown_key, r".*site\.toml:\d+:\d+: .*rowz.*"),
    ("a file that is no TOML", no_toml, r".*director\.toml:\d+:\d+: .*"),
    ("metrics for everybody", metrics_for_everybody, r".*director\.toml:\d+:\d+: .*loopback.*"),
    ("a backend at the director's source", backend_at_the_source, r".*director's own source.*"),
    ("a worker without a CPU", worker_without_a_cpu, r".*97.*"),
]


@pytest.mark.parametrize("spoil,pattern", [case[1:] for case in STARTS], ids=[case[0] for case in STARTS])
def test_a_start_is_refused(lab, tmp_path, spoil, pattern):
    start = Start(lab, tmp_path)
    os.chmod(tmp_path, 0o755)
    spoil(start)
    start.toml = start.toml.replace("mtu = 1600", "mtu = 1580")
    before = start.interfaces()
    one_sentence(start.run(), "guidewayd", 1, pattern)
    start.nothing_left()
    assert start.interfaces() == before
    assert not (tmp_path / "out.pcap").exists()


def test_what_fails_late_leaves_the_interfaces_as_they_were(lab, tmp_path):
    """The ports are open already when the last one is refused."""
    start = Start(lab, tmp_path)
    start.toml = start.toml.replace("mtu = 1600", "mtu = 1580").replace("mtu = 1500", "mtu = 1400")
    start.toml += '[[port]]\nname = "none"\ndevice = "0000:77:00.0"\n'
    before = start.interfaces()
    one_sentence(start.run(), "guidewayd", 1, r".*0000:77:00\.0.*")
    start.nothing_left()
    assert start.interfaces() == before


def no_source(start):
    start.toml = re.sub(r"^source_ipv4 = .*\n", "", start.toml, flags=re.M)


@pytest.mark.parametrize("spoil,pattern", [(no_source, r".*source_ipv4.*"),
                                           (backend_at_the_source, r".*director's own source.*")])
def test_what_check_passes_starts(lab, tmp_path, spoil, pattern):
    """The start, `guidewayd --check` and `guideway check` refuse the same."""
    start = Start(lab, tmp_path)
    spoil(start)
    one_sentence(start.run(), "guidewayd", 1, pattern)
    one_sentence(start.run("--check"), "guidewayd", 1, pattern)
    argv = [lab.programs / "guideway", "check", tmp_path / "site.toml", "--director", tmp_path / "director.toml"]
    one_sentence(lab.net.run("director", argv, check=False), "guideway", 1, pattern)
    start.nothing_left()


def test_a_service_address_of_the_host_is_refused(lab, tmp_path):
    lab.net.ip("director", "address add 203.0.113.10/32 dev lo")
    try:
        start = Start(lab, tmp_path)
        one_sentence(start.run(), "guidewayd", 1, r".*203\.0\.113\.10.*")
        start.nothing_left()
    finally:
        lab.net.ip("director", "address delete 203.0.113.10/32 dev lo")


def test_a_taken_metrics_port_is_refused(lab, tmp_path):
    code = "import socket; s = socket.create_server(('127.0.0.1', 9471)); print('up', flush=True); input()"
    with subprocess.Popen(lab.net.argv("director", ["python3", "-c", code]), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "up\n"
        start = Start(lab, tmp_path)
        start.toml = start.toml.replace("127.0.0.1:9464", "127.0.0.1:9471")
        one_sentence(start.run(), "guidewayd", 1, r".*127\.0\.0\.1:9471.*")
        start.nothing_left()
        holder.communicate("\n")


def test_forwarding_of_the_host_is_refused(lab, tmp_path):
    lab.net.sysctl("director", **{"net.ipv4.ip_forward": 1})
    try:
        start = Start(lab, tmp_path)
        one_sentence(start.run(), "guidewayd", 1, r".*ip_forward.*")
        start.nothing_left()
    finally:
        lab.net.sysctl("director", **{"net.ipv4.ip_forward": 0})


def test_no_hugepages_is_said_and_done_without(lab, new_director, tmp_path):
    """Nobody has to have hugepages: it says that it goes on in ordinary memory."""
    made = lab.director(home=tmp_path)
    made.write_files()
    made.director_file.write_text(made.director_file.read_text().replace("hugepages = false", "hugepages = true"))
    with open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) for line in file if line.startswith("HugePages_Free"))
    if free:
        pytest.skip("this machine has free hugepages")
    try:
        made.start()
        assert re.search(r"hugepage", made.log())
    finally:
        made.stop()
        lab.reset_log("guidewayd")


def test_a_second_daemon_is_refused(lab, director, tmp_path):
    start = Start(lab, tmp_path)
    start.toml = start.toml.replace(f"{tmp_path}/api.sock", str(director.socket))
    one_sentence(start.run(), "guidewayd", 1, rf".*{director.socket}.*")
    start = Start(lab, tmp_path)
    start.toml = start.toml.replace(f"{tmp_path}/state", str(director.home / "state"))
    one_sentence(start.run(), "guidewayd", 1, rf".*{director.home}/state.*")
    assert director.json("status")["epoch"] == 1, "the first one was disturbed"


def test_a_damaged_journal_is_refused_by_name(lab, director):
    director.call("backend", "drain", "web", "b1")
    director.stop()
    damaged = sorted((path for path in (director.home / "state").rglob("*") if path.is_file() and path.stat().st_size),
                     key=lambda path: path.stat().st_mtime)[-1]
    kept = damaged.read_bytes()
    damaged.write_bytes(kept[: len(kept) // 2])
    result = lab.net.run("director", director.argv(), check=False, timeout=20)
    one_sentence(result, "guidewayd", 1, rf".*{damaged.name}.*")
    assert damaged.read_bytes() == kept[: len(kept) // 2], "the damaged file was touched"
    damaged.write_bytes(kept)
    director.start()
    assert director.rows().get("b1", 0) == 0


# -- commands ------------------------------------------------------------------------------------------------

COMMANDS = [
    ("an unknown backend", ["backend", "drain", "web", "nosuch"], 1, r".*nosuch.*"),
    ("an unknown pool", ["backend", "drain", "nosuch", "b1"], 1, r".*nosuch.*"),
    ("a stale epoch", ["backend", "drain", "web", "b1", "--expect-epoch", "77"], 1, r".*epoch 77.*"),
    ("weight 0", ["backend", "weight", "web", "b1", "0"], 2, r".*drain.*"),
    ("an address of another family", ["backend", "add", "web", "b9", "fd00::9"], 1, r".*fd00::9.*|.*famil.*"),
    ("an address twice", ["backend", "add", "web", "b9", "10.20.0.11"], 1, r".*10\.20\.0\.11.*"),
    ("an undrained backend's removal", ["backend", "remove", "web", "b1"], 1, r".*--force.*"),
    ("a verb that is not there", ["backend", "explode", "web", "b1"], 2, r".*explode.*"),
    ("a word too few", ["backend", "drain", "web"], 2, r".*"),
    ("a tuple that is none", ["explain", "tcp", "198.51.100.7", "203.0.113.10:80"], 2, r".*198\.51\.100\.7.*"),
]


@pytest.fixture(scope="module")
def running(lab, tmp_path_factory):
    made = lab.director(home=tmp_path_factory.mktemp("running"))
    made.write_files()
    made.start()
    yield made
    made.stop()
    lab.reset_log("guidewayd")


@pytest.mark.parametrize("words,code,pattern", [case[1:] for case in COMMANDS], ids=[case[0] for case in COMMANDS])
def test_a_command_is_refused(running, words, code, pattern):
    table = running.json("table", "digest")
    one_sentence(running.call(*words, check=False), "guideway", code, pattern)
    assert running.json("table", "digest") == table, "something was done all the same"


def test_a_second_daemon_on_the_same_interfaces_is_refused(lab, running, tmp_path):
    start = Start(lab, tmp_path)
    start.toml = start.toml.replace("127.0.0.1:9464", "127.0.0.1:9472")
    before = start.interfaces()
    one_sentence(start.run(), "guidewayd", 1,
                 r".*port wan \(af_packet:wan\): another guidewayd \(process \d+\) uses wan already; stop that one, .*")
    start.nothing_left()
    assert start.interfaces() == before
    assert running.call("status").returncode == 0


def test_a_site_with_a_mistake_is_refused_whole(running, tmp_path):
    table = running.json("table", "digest")
    bad = tmp_path / "bad.toml"
    bad.write_text(site_toml(backends=("b1", "b2")).replace("ports = [80]", "ports = [80, 70000]", 1))
    line = 1 + bad.read_text().split("70000")[0].count("\n")
    one_sentence(running.call("apply", bad, check=False), "guideway", 1, rf".*bad\.toml:{line}:\d+: .*70000.*")
    assert running.json("table", "digest") == table


def test_no_daemon_is_exit_code_3(programs, tmp_path):
    result = subprocess.run([programs / "guideway", "status", "--socket", tmp_path / "none.sock"], capture_output=True,
                            text=True)
    one_sentence(result, "guideway", 3, r".*none\.sock.*")


# -- captures ------------------------------------------------------------------------------------------------

CAPTURES = [
    ("no capture at all", b"this is no capture file, and never was one"),
    ("an empty file", b""),
    ("a record cut off", bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000") +
     bytes.fromhex("00000000000000004000000040000000") + b"\x00" * 10),
    ("a record of 4 GB", bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000") +
     bytes.fromhex("0000000000000000ffffffffffffffff") + b"\x00" * 10),
    ("an unknown link type", bytes.fromhex("d4c3b2a1020004000000000000000000ffff0000ee000000")),
]


@pytest.mark.parametrize("content", [case[1] for case in CAPTURES], ids=[case[0] for case in CAPTURES])
def test_a_broken_capture_is_refused(programs, tmp_path, content):
    (tmp_path / "site.toml").write_text(site_toml())
    (tmp_path / "in.pcap").write_bytes(content)
    result = subprocess.run([programs / "guideway", "replay", "--site", tmp_path / "site.toml", "--in",
                             tmp_path / "in.pcap", "--out", tmp_path / "out.pcap"], capture_output=True, text=True,
                            env=programs.environment())
    one_sentence(result, "guideway(-replay)?", 1, r".*in\.pcap.*")
    assert not (tmp_path / "out.pcap").exists() or not (tmp_path / "out.pcap").stat().st_size > 24
