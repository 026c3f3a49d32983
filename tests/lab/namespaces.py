"""Namespaces: the machines of a lab, and the processes that run in them.

What: creates network namespaces named gw-LAB-ROLE, runs commands in them, starts processes and records them
      in the lab's folder, so that anybody can end them later.
Why:  two labs stand side by side, a lab outlives the program that made it (--keep), and what is cleaned up is
      only what this lab made: namespaces by its prefix, processes by pid and start time.
Not:  what the machines are and how they are wired (topology.py).
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import ending

RUN_ROOT = pathlib.Path("/run/gw-lab")
DPDK_ROOT = pathlib.Path("/run/dpdk")


class LabError(Exception):
    """A sentence for the person who ran the lab."""


def process_start(pid):
    """Start time of a process in clock ticks since boot; None when there is no such process (or a zombie)."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields[19]


class Process:
    """A process of the lab: known by pid and start time, so that a reused pid is never taken for it."""

    def __init__(self, name, pid, start, child=None):
        self.name, self.pid, self.start, self.child = name, pid, start, child

    def alive(self):
        if self.child is not None:
            return self.child.poll() is None
        return process_start(self.pid) == self.start

    def signal(self, number):
        if self.alive():
            os.kill(self.pid, number)

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def stop(self, seconds=5):
        """Asks it to end, then makes it."""
        self.signal(signal.SIGTERM)
        if not self.wait(seconds):
            self.kill()

    def kill(self):
        self.signal(signal.SIGKILL)
        self.wait(5)


class Namespaces:
    def __init__(self, lab):
        if not lab.isalnum():
            raise LabError(f"{lab!r} is no name for a lab; use letters and digits")
        self.lab = lab
        self.prefix = f"gw-{lab}-"
        self.run_dir = RUN_ROOT / lab
        self.processes = {}

    # -- namespaces -----------------------------------------------------------------------------------------

    def name(self, role):
        return self.prefix + role

    def present(self):
        """Roles that exist now."""
        names = [line.split()[0] for line in output(["ip", "netns", "list"]).splitlines() if line.strip()]
        return [name[len(self.prefix):] for name in names if name.startswith(self.prefix)]

    def add(self, *roles):
        for role in roles:
            command(["ip", "netns", "add", self.name(role)])
            # Addresses are usable at once, and no router is looked for.
            self.sysctl(role, **{"net.ipv6.conf.default.accept_dad": 0, "net.ipv6.conf.default.dad_transmits": 0,
                                 "net.ipv6.conf.default.router_solicitations": 0,
                                 "net.ipv6.conf.default.accept_ra": 0, "net.ipv4.ip_forward": 0})
            self.ip(role, "link set lo up")

    def ip(self, role, lines):
        """One or more lines for `ip -batch` in this namespace; `{role}` names a namespace of the lab."""
        text = lines.replace("netns:", "netns " + self.prefix)
        command(["ip", "-n", self.name(role), "-batch", "-"], input=text)

    def sysctl(self, role, **values):
        self.run(role, ["sysctl", "-q", "-w"] + [f"{key}={value}" for key, value in values.items()])

    def argv(self, role, argv):
        # Only the network is the namespace's: pinned BPF objects and the rest of /sys stay in sight.
        return ["nsenter", f"--net=/run/netns/{self.name(role)}", "--"] + [str(word) for word in argv]

    def run(self, role, argv, check=True, **options):
        """Runs a command there to its end."""
        return command(self.argv(role, argv), check=check, **options)

    def mac(self, role, interface):
        return json.loads(output(["ip", "-n", self.name(role), "-j", "link", "show", interface]))[0]["address"]

    # -- processes ------------------------------------------------------------------------------------------

    def start(self, role, name, argv, stdout=None, env=None):
        """Starts a process there and records it; its output goes to NAME.log in the lab's folder."""
        old = self.processes.get(name)
        if old is not None and old.alive():
            raise LabError(f"{name} runs already in lab {self.lab}")
        records = self.records()
        with ending.postponed(), open(self.log(name), "ab") as file:
            child = subprocess.Popen(self.argv(role, argv), stdin=subprocess.DEVNULL,
                                     stdout=stdout if stdout is not None else file, stderr=file,
                                     start_new_session=True, env=env)
            process = Process(name, child.pid, process_start(child.pid), child)
            self.processes[name] = process
            records.joinpath(name).write_text(f"{process.pid} {process.start}\n")
        return process

    def log(self, name):
        return self.run_dir / f"{name}.log"

    def records(self):
        folder = self.run_dir / "processes"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def recorded(self):
        """The lab's processes, those of other programs that worked on this lab included."""
        for path in sorted(self.records().iterdir()):
            words = path.read_text().split()
            if path.name not in self.processes and len(words) == 2:
                self.processes[path.name] = Process(path.name, int(words[0]), words[1])
        return list(self.processes.values())

    def forget_ended(self):
        for process in self.recorded():
            if not process.alive():
                del self.processes[process.name]
                self.records().joinpath(process.name).unlink(missing_ok=True)

    # -- the end --------------------------------------------------------------------------------------------

    def own_dpdk_folders(self, role):
        """Notes the runtime folders of the DPDK processes there: one that is killed leaves its own."""
        sockets = self.run(role, ["cat", "/proc/net/unix"]).stdout.split()
        for folder in {pathlib.Path(word).parent for word in sockets if word.startswith(f"{DPDK_ROOT}/")}:
            self.run_dir.joinpath(f"dpdk-{folder.name}").touch()

    def clean(self):
        """Ends the lab's processes, deletes its namespaces and its folder. Safe to call at any time, twice."""
        with ending.ignored():
            if self.run_dir.exists():
                self.end_processes()
                for note in self.run_dir.glob("dpdk-*"):
                    shutil.rmtree(DPDK_ROOT / note.name.removeprefix("dpdk-"), ignore_errors=True)
            for role in self.present():
                command(["ip", "netns", "delete", self.name(role)], check=False)
            shutil.rmtree(self.run_dir, ignore_errors=True)
            self.processes.clear()
            with contextlib.suppress(OSError):  # other labs are in it
                RUN_ROOT.rmdir()

    def end_processes(self):
        running = [process for process in self.recorded() if process.alive()]
        for process in running:
            process.signal(signal.SIGTERM)
        end = time.monotonic() + 15  # a daemon under load closes its ports in seconds
        for process in running:
            if not process.wait(end - time.monotonic()):
                process.kill()


def command(argv, check=True, **options):
    options.setdefault("text", True)
    options.setdefault("capture_output", True)
    result = subprocess.run([str(word) for word in argv], **options)
    if check and result.returncode != 0:
        words = " ".join(str(word) for word in argv)
        raise LabError(f"{words}: exit code {result.returncode}: {(result.stderr or result.stdout or '').strip()}")
    return result


def output(argv):
    return command(argv).stdout
