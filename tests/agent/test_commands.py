"""guideway-agent's verbs on real interfaces: what they leave, and what they say."""
import concurrent.futures
import glob
import json
import pathlib
import resource
import socket
import subprocess

import pytest

from checks import until
from machines import SERVICE, addresses
from reroute import socket_in
from stand_in import gue_packet, tcp_packet

OTHER = "protocol ip u32 match u32 0xffffffff 0xffffffff"  # somebody else's filter, of another kind


def test_attach_twice(rig):
    assert "attached; native mode" in rig.a.attach().stdout
    assert "nothing to do" in rig.a.attach().stdout
    other = rig.a.agent("attach", "eth0", "--director", "10.77.0.3", "--service", "10.77.100.1", check=False)
    assert other.returncode == 1
    assert "attached already, with other settings" in other.stderr and "update eth0" in other.stderr


def test_status_shows_what_is_in_force(rig):
    rig.a.attach("--mode", "generic", "--udp-port", "6080")
    status = rig.a.status()
    assert status["attached"] and status["mode"] == "generic" and status["udp_port"] == 6080
    assert status["directors"] == ["10.77.0.2", "fd77::2"]
    assert status["services"] == ["10.77.100.1", "fd77:100::1"]
    assert status["local"] == ["10.77.0.11", "fd77::11"]
    assert set(status["peers"]) == set(addresses("b").values()) | set(addresses("c").values())
    assert "eth0: attached, generic mode" in rig.a.agent("status").stdout
    assert json.loads(rig.b.agent("status", "--json").stdout) == {"interfaces": []}


def test_update_changes_only_what_it_names(rig):
    rig.a.attach()
    before = rig.a.status()
    said = rig.a.agent("update", "eth0", "--peers", "10.77.0.0/24").stdout.splitlines()
    assert said[0] == "eth0: updated"
    assert said[1:] == [f"  peers      {' '.join(before['peers'])} -> 10.77.0.0/24"]
    after = rig.a.status()
    assert after["peers"] == ["10.77.0.0/24"]
    assert {k: v for k, v in after.items() if k != "peers"} == {k: v for k, v in before.items() if k != "peers"}
    assert "nothing to do" in rig.a.agent("update", "eth0", "--peer", "10.77.0.0/24").stdout
    rig.a.agent("update", "eth0", "--udp-port", "7000")
    assert rig.a.status()["udp_port"] == 7000


def test_each_verb_answers_as_json(rig):
    def ask(*words, code=0):
        said = rig.a.agent(*words, "--json", check=False)
        assert said.returncode == code, said.stderr
        return json.loads(said.stdout)

    words = ["eth0", "--director", "10.77.0.2", "--service", "10.77.100.64/26"]
    attached = ask("attach", *words)
    assert set(attached) == {"verb", "result", "status", "changes", "warnings"}
    assert (attached["verb"], attached["result"], attached["changes"]) == ("attach", "done", [])
    assert any("10.77.100.64/26" in warning for warning in attached["warnings"])
    status = rig.a.status()
    assert {k: v for k, v in attached["status"].items() if k != "counters"} == {
        k: v for k, v in status.items() if k != "counters"}
    assert ask("attach", *words)["result"] == "unchanged"
    updated = ask("update", "eth0", "--peer", "10.77.0.12", "--udp-port", "7000")
    assert updated["result"] == "done" and updated["status"]["peers"] == ["10.77.0.12"]
    assert updated["changes"] == [{"setting": "UDP port", "before": "19523", "after": "7000"},
                                  {"setting": "peers", "before": "-", "after": "10.77.0.12"}]
    assert ask("update", "eth0", "--peer", "10.77.0.12")["result"] == "unchanged"
    detached = ask("detach", "eth0")
    assert detached["result"] == "done"
    assert detached["status"] == {"interface": "eth0", "attached": False, "mode": "none"}
    for wrong, code, kind in ((["detach", "eth0"], 1, "refused"), (["attach", "eth7", *words[1:]], 1, "refused"),
                              (["attach", "eth0"], 2, "usage"), (["attach", "eth0", "--bogus"], 2, "usage"),
                              (["status", "eth7"], 1, "refused")):
        refusal = ask(*wrong, code=code)
        assert set(refusal) == {"error", "where", "next", "kind"} and refusal["kind"] == kind, wrong
        assert refusal["error"] in rig.a.agent(*wrong, check=False).stderr


def test_update_follows_the_interface_s_addresses(rig):
    rig.a.attach()
    rig.net.ip("a", "addr add 10.77.0.111/24 dev eth0")
    try:
        rig.a.agent("update", "eth0")
        assert "10.77.0.111" in rig.a.status()["local"]
    finally:
        rig.net.ip("a", "addr del 10.77.0.111/24 dev eth0")
    rig.a.agent("update", "eth0", "--local", "10.77.0.11")
    rig.a.agent("update", "eth0")
    assert rig.a.status()["local"] == ["10.77.0.11"], "named ones stay"


def test_a_program_s_counters_survive_its_exchange(rig):
    rig.a.attach()
    with rig.connect(4) as client:
        client.ask()
        before = rig.a.counters()
        assert before["of_gue"] >= 3
        rig.a.agent("update", "eth0", "--reload")
        client.ask()
        after = rig.a.counters()
    assert after["of_gue"] > before["of_gue"] and after["deliver_no_hop"] > before["deliver_no_hop"]


def test_attach_counts(rig):
    said = rig.a.agent("attach", "eth0", "--director", "10.77.0.2", "--service", "10.77.100.1").stdout
    assert said == "eth0: attached; native mode, 1 director, 0 peers, 1 service\n"


def test_version(rig):
    assert rig.a.agent("--version").stdout.startswith("guideway-agent ")


def without_kernel_types(words):
    """The command as on a kernel that tells no types of its own."""
    return ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh", *words]


def test_without_kernel_types_the_portable_program_does_it(rig):
    if not pathlib.Path("/sys/kernel/btf/vmlinux").exists():
        pytest.skip("this kernel tells no types: every other test shows it")
    words = [rig.a.program, "attach", "eth0", "--director", "10.77.0.2", "--peer", "10.77.0.12", "--service", "10.77.100.1"]
    rig.net.run("a", without_kernel_types(words))
    status = rig.a.status()
    assert status["program"] == "portable" and "no types of its own" in status["portable_because"]
    text = rig.a.agent("status", "eth0").stdout
    assert "portable program" in text and "told apart by their ports alone" in text
    with rig.connect(4) as client:
        assert client.ask() == "a"
    # Here the types are there: what is put in its place is what fits this kernel.
    rig.a.agent("update", "eth0", "--reload")
    status = rig.a.status()
    assert status["program"] == "kernel-typed" and "portable_because" not in status
    rig.net.run("a", without_kernel_types([rig.a.program, "update", "eth0", "--reload"]))
    assert rig.a.status()["program"] == "portable"


def test_detach_leaves_nothing(rig):
    rig.a.attach()
    assert rig.a.agent("detach", "eth0").stdout == "eth0: detached\n"
    assert "xdp" not in rig.net.run("a", ["ip", "link", "show", "eth0"]).stdout
    assert "clsact" not in rig.tc("a", "qdisc show dev eth0")
    again = rig.a.agent("detach", "eth0", check=False)
    assert again.returncode == 1 and "not attached" in again.stderr


@pytest.mark.parametrize("side", ["ingress", "egress"])
def test_detach_keeps_what_others_put_there(rig, side):
    rig.a.attach()
    rig.tc("a", f"filter add dev eth0 {side} prio 50 {OTHER}")
    rig.a.agent("detach", "eth0")
    left = rig.tc("a", f"filter show dev eth0 {side}")
    assert "u32" in left and "send_on" not in left
    rig.tc("a", "qdisc del dev eth0 clsact")


@pytest.mark.parametrize("side", ["ingress", "egress"])
def test_a_qdisc_of_others_stays(rig, side):
    """Also where they take their filter out of it later."""
    rig.tc("a", "qdisc add dev eth0 clsact")
    rig.tc("a", f"filter add dev eth0 {side} prio 50 {OTHER}")
    rig.a.attach()
    rig.tc("a", f"filter del dev eth0 {side} prio 50")
    rig.a.agent("detach", "eth0")
    assert "clsact" in rig.tc("a", "qdisc show dev eth0")
    rig.tc("a", "qdisc del dev eth0 clsact")


def test_a_qdisc_that_nobody_uses_is_taken_over(rig):
    """It is what an agent leaves that was killed in its first step."""
    rig.tc("a", "qdisc add dev eth0 clsact")
    rig.a.attach()
    rig.a.agent("detach", "eth0")
    assert "clsact" not in rig.tc("a", "qdisc show dev eth0")


def test_an_attach_that_fails_leaves_the_qdisc_that_it_found(rig):
    rig.tc("a", "qdisc add dev eth0 clsact")
    steer = rig.a.program.parents[1] / "bpf" / "steer.bpf.o"
    rig.net.run("a", ["ip", "link", "set", "eth0", "xdpdrv", "obj", steer, "sec", "xdp"])
    try:
        assert rig.a.agent("attach", "eth0", "--director", "10.77.0.2", "--service", "10.77.100.1", check=False).returncode == 1
        assert "clsact" in rig.tc("a", "qdisc show dev eth0")
        assert "send_on" not in rig.tc("a", "filter show dev eth0 ingress")
    finally:
        rig.net.ip("a", "link set eth0 xdpdrv off")
        rig.tc("a", "qdisc del dev eth0 clsact")


@pytest.mark.parametrize("verb", ["attach", "detach"])
def test_killed_between_its_steps(rig, verb):
    """Whatever message to the kernel is its last, the next attach and detach leave nothing."""
    def agent(*words, tracer=()):
        return rig.net.run("a", [*tracer, rig.a.program, *words], check=False)

    attach = ["attach", "eth0", "--director", "10.77.0.2", "--service", "10.77.100.1"]
    for last in range(1, 100):
        if verb == "detach":
            rig.a.agent(*attach)
        killed = agent(*(attach if verb == "attach" else ["detach", "eth0"]),
                       tracer=["strace", "-f", "-o", "/dev/null", "-e", "trace=sendto,sendmsg", "-e",
                               f"inject=sendto,sendmsg:signal=KILL:when={last}"])
        after = agent(*attach)
        assert after.returncode == 0, (last, after.stderr)
        agent("detach", "eth0")
        assert "xdp" not in rig.net.run("a", ["ip", "link", "show", "eth0"]).stdout, last
        assert "clsact" not in rig.tc("a", "qdisc show dev eth0"), last
        if killed.returncode == 0:
            break
    assert killed.returncode == 0 and last > 3, "it was killed at each of its messages, and once at none"


def test_another_kind_of_filter_at_our_priority(rig):
    rig.tc("a", "qdisc add dev eth0 clsact")
    rig.tc("a", f"filter add dev eth0 ingress prio 2 {OTHER}")
    rig.a.attach()
    filters = rig.tc("a", "filter show dev eth0 ingress")
    assert "u32" in filters and "send_on" in filters
    rig.a.agent("detach", "eth0")
    assert "send_on" not in rig.tc("a", "filter show dev eth0 ingress")
    rig.tc("a", "qdisc del dev eth0 clsact")


def test_half_taken_off_by_somebody(rig):
    rig.a.attach()
    rig.net.ip("a", "link set eth0 xdp off")
    assert rig.a.status() == {"attached": False, "interface": "eth0", "mode": "none"}
    rig.a.attach()
    assert rig.tc("a", "filter show dev eth0 ingress").count("send_on:[") == 1
    rig.net.ip("a", "link set eth0 xdp off")
    rig.a.agent("detach", "eth0")
    assert "clsact" not in rig.tc("a", "qdisc show dev eth0")


def test_frames_of_strangers_are_left_alone(rig):
    """The kernel answers them as it would without us: port unreachable."""
    rig.attach()
    stranger = "10.77.0.99"
    inner = tcp_packet("10.77.0.99", SERVICE[4], 1234, 7, 2, 1)
    rig.director.send("a", gue_packet(stranger, [rig.a.addresses[4]], inner))
    until(lambda: rig.a.counters() == {"pass_foreign_source": 1}, what="a counted stranger")
    rig.director.send("a", gue_packet(rig.director.host.addresses[4], [rig.b.addresses[4]], inner))
    until(lambda: rig.a.counters().get("pass_not_local") == 1, what="a frame for another host")


def test_a_large_mtu(rig):
    """Native XDP takes frames of several pages only from a program that says it knows them. It is exchanged under
    traffic, and no packet falls into a gap."""
    ends = [(role, "eth0") for role in ("client", "director", "a")]
    wires = [("lan", f"to-{role}") for role, _ in ends] + [("lan", "br0")]

    def size(mtu, of_client):
        for role, interface in wires + ends:
            rig.net.ip(role, f"link set {interface} mtu {of_client if role == 'client' else mtu}")

    size(9000, 8900)
    try:
        rig.a.attach("--mode", "native")
        with rig.connect(4) as client, concurrent.futures.ThreadPoolExecutor() as pool:
            reloads = pool.submit(lambda: [rig.a.agent("update", "eth0", "--reload") for _ in range(10)])
            asked = 0
            while not reloads.done():
                assert client.ask("y" * 20000) == "a"
                asked += 1
            assert all("updated" in reload.stdout for reload in reloads.result()) and asked > 20
        until(lambda: rig.delivered() == rig.director.sent, what=f"{rig.director.sent} delivered")
    finally:
        rig.a.agent("detach", "eth0", check=False)
        size(1600, 1500)


def test_the_file(rig, tmp_path):
    file = tmp_path / "agent.toml"
    file.write_text('interface = "eth0"\ndirectors = ["10.77.0.2"]\npeers = ["10.77.0.0/24"]\n'
                    'services = ["10.77.100.1"]\nudp_port = 6081\n')
    rig.a.agent("attach", "--config", file)
    status = rig.a.status()
    assert status["udp_port"] == 6081 and status["peers"] == ["10.77.0.0/24"]
    rig.a.agent("update", "--config", file, "--peer", "10.77.0.12")
    assert rig.a.status()["peers"] == ["10.77.0.12"], "the command line wins"
    rig.a.agent("detach", "--config", file)


def test_warnings(rig):
    rig.net.sysctl("a", **{"net.ipv4.conf.all.arp_ignore": 0, "net.ipv4.conf.eth0.rp_filter": 1})
    try:
        result = rig.a.agent("attach", "eth0", "--director", "10.77.0.2", "--service", "10.77.100.1,10.77.100.64/26")
        assert "arp_ignore is 0" in result.stderr and "rp_filter is strict" in result.stderr
        assert "ip route add local 10.77.100.64/26 dev lo" in result.stderr
        result = rig.a.agent("update", "eth0", "--service", "10.77.100.0/24")
        assert "is not" not in result.stderr and "are not" not in result.stderr, "one of the prefix is this host's"
        assert "arp_announce" not in result.stderr and "10.77.100.1 is not" not in result.stderr
    finally:
        rig.net.sysctl("a", **{"net.ipv4.conf.all.arp_ignore": 1, "net.ipv4.conf.eth0.rp_filter": 0})


@pytest.mark.parametrize("words, code, says", [
    (["attach", "eth7", "--director", "10.77.0.2", "--service", "10.77.100.1"], 1, 'no interface "eth7"'),
    (["attach", "eth0", "--service", "10.77.100.1"], 2, "--director"),
    (["attach", "eth0", "--director", "10.77.0.2"], 2, "--service"),
    (["attach", "--director", "10.77.0.2"], 2, "interface"),
    (["attach", "eth0", "--director", "10.77.0.2/24", "--service", "10.77.100.1"], 2, "10.77.0.0/24"),
    (["attach", "eth0", "--director", "web-1", "--service", "10.77.100.1"], 2, "is no IPv4 or IPv6 address"),
    (["attach", "eth0", "--director", "10.77.0.2", "--service", "10.77.100.1", "--mode", "fast"], 2, "native"),
    (["attach", "eth0", "--director", "10.77.0.2", "--service", "10.77.100.1", "--udp-port", "0"], 2, "65535"),
    (["attach", "eth0", "--config", "/nowhere.toml"], 1, "/nowhere.toml"),
    (["update", "eth0", "--peer", "10.77.0.12"], 1, "attach eth0"),
    (["detach", "eth0"], 1, "not attached"),
    (["status", "eth7"], 1, "ip link"),
    (["fly"], 2, 'no verb "fly"; use attach, update'),
    ([], 2, "no verb was given; use attach"),
    (["attach", "eth0", "--bogus"], 2, "see guideway-agent attach --help"),
    (["attach", "eth0", "--directer=10.77.0.2"], 2, 'did you mean "--director"? see guideway-agent attach --help'),
    (["--bogus"], 2, "see guideway-agent --help"),
    (["--versoin"], 2, 'did you mean "--version"? see guideway-agent --help'),
])
def test_refusals(rig, words, code, says):
    result = rig.a.agent(*words, check=False)
    assert result.returncode == code, result.stderr
    assert says in result.stderr
    assert result.stderr.startswith("guideway-agent: ") and result.stderr.count("\n") == 1
    assert rig.a.status()["attached"] is False
    assert "clsact" not in rig.tc("a", "qdisc show dev eth0")


def test_without_root(rig):
    result = rig.net.run("a", ["setpriv", "--reuid=65534", "--clear-groups", rig.a.program, "status"], check=False)
    assert result.returncode == 1 and "needs root" in result.stderr


def test_refused_lists_leave_those_in_force(rig, tmp_path):
    rig.a.attach()
    before = rig.a.status()
    file = tmp_path / "agent.toml"
    many = ", ".join(f'"10.78.{n >> 8}.{n & 255}"' for n in range(1100))
    file.write_text(f'services = ["10.77.100.2"]\npeers = ["10.77.0.0/24"]\nlocal = [{many}]\n')
    refused = rig.a.agent("update", "eth0", "--config", file, check=False)
    assert refused.returncode == 1 and "takes no more entries" in refused.stderr
    assert rig.a.status() == before


def test_many_peers_take_a_moment(rig, tmp_path):
    """Each is held against all that cover it; one by one that took 14 s of processor time."""
    rig.a.attach()
    file = tmp_path / "agent.toml"
    peers = [f"11.{n >> 16}.{n >> 8 & 255}.{n & 255}" for n in range(12_000)]
    file.write_text("peers = [" + ", ".join(f'"{peer}"' for peer in peers) + ', "11.0.0.0/16"]\n')
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    rig.a.agent("update", "eth0", "--config", file)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert used.ru_utime - usage.ru_utime < 3
    assert len(rig.a.status()["peers"]) == 12_001


def test_nobody_but_root_keeps_it_from_its_work(rig):
    """Any user may open a socket of any abstract name, and lock any file that he can open."""
    locks = "/run/guideway-agent.*.lock"
    hold = ("import fcntl, glob, os, socket, sys\n"
            "held = socket.socket(socket.AF_UNIX); held.bind(chr(0) + 'guideway-agent')\n"
            f"for path in glob.glob('{locks}'):\n"
            "    try: fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX)\n"
            "    except PermissionError: pass\n"
            "print('held', flush=True); sys.stdin.read()\n")
    command = ["ip", "netns", "exec", rig.net.name("a"), "setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3",
               "-c", hold]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stranger:
        assert stranger.stdout.readline() == "held\n"
        assert rig.a.agent("status").returncode == 0
        stranger.stdin.close()
    assert not glob.glob(locks), "it takes its lock away"


def test_an_interface_that_goes_leaves_nothing(rig):
    rig.net.ip("a", "link add gone0 type veth peer name gone1\naddr add 192.0.2.1/24 dev gone0\nlink set gone0 up")
    rig.a.agent("attach", "gone0", "--director", "192.0.2.2", "--service", "10.77.100.1")
    rig.net.ip("a", "link del gone0")
    assert rig.a.agent("status").stdout == "attached to no interface of this network namespace\n"
    rig.net.ip("a", "link add gone0 type veth peer name gone1\naddr add 192.0.2.1/24 dev gone0\nlink set gone0 up")
    rig.a.agent("attach", "gone0", "--director", "192.0.2.2", "--service", "10.77.100.1")
    rig.net.ip("a", "link del gone0")


def test_no_udp_socket_is_needed(rig):
    """A program of the host that owns the port gets frames of strangers only."""
    rig.a.attach()
    with socket_in(rig.net.name("a"), lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as own:
        own.bind(("0.0.0.0", 19523))
        own.settimeout(0.2)
        with rig.connect(4) as client:
            assert client.ask() == "a"
        with pytest.raises(TimeoutError):
            own.recv(100)


@pytest.mark.parametrize("how", ["xdpdrv", "xdpgeneric"])
def test_another_xdp_program_is_not_displaced(rig, how):
    steer = rig.a.program.parents[1] / "bpf" / "steer.bpf.o"
    rig.net.run("a", ["ip", "link", "set", "eth0", how, "obj", steer, "sec", "xdp"])
    try:
        result = rig.a.agent("attach", "eth0", "--director", "10.77.0.2", "--service", "10.77.100.1", check=False)
        assert result.returncode == 1 and "another XDP program is attached" in result.stderr
        assert "clsact" not in rig.tc("a", "qdisc show dev eth0")
        assert rig.a.agent("detach", "eth0", check=False).returncode == 1
        assert "name steer" in rig.net.run("a", ["ip", "link", "show", "eth0"]).stdout
    finally:
        rig.net.ip("a", f"link set eth0 {how} off")
