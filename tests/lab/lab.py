"""Lab: a client, a director and its backends as network namespaces, with everything that runs in them.

    with Lab("demo", build) as lab:
        lab.up()
        lab.director().start()

A lab cleans up after itself at the end of the `with`, at an exception, at a signal that asks the program to end, and
at the next start of a lab of the same name; `keep()` leaves it.
"""
import os
import pathlib

import ending
import topology
from director import Director
from namespaces import LabError, Namespaces
from servers import Agent, File, start_web, stop_web
from traffic import Download, Load

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GUIDEWAY_BUILD", ROOT / "build"))


class Programs:
    """Where the built programs lie."""

    PLACES = {"guidewayd": "src/daemon", "guideway": "src/cli", "guideway-agent": "src/agent",
              "guideway-replay": "src/replay", "gw-load": "tests/lab"}

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()

    def __truediv__(self, name):
        return self.build / self.PLACES[name] / name

    def environment(self):
        """For `guideway replay`, which looks for guideway-replay on the PATH."""
        return os.environ | {"PATH": f"{(self / 'guideway-replay').parent}:{os.environ['PATH']}"}

    def missing(self):
        return [name for name in self.PLACES if not (self / name).exists()]


class Lab:
    def __init__(self, name, build=BUILD):
        self.net = Namespaces(name)
        self.programs = Programs(build)
        self.file = None
        self.kept = False

    # -- life -----------------------------------------------------------------------------------------------

    def __enter__(self):
        ending.install()
        return self

    def __exit__(self, *_):
        if not self.kept:
            self.down()

    def keep(self):
        """Leaves the lab as it is; what has ended by now is no part of it."""
        self.net.forget_ended()
        self.kept = True

    def up(self, backends=("b1", "b2", "b3"), say=lambda text: None):
        """Namespaces, web servers, agents; no director yet. `say` is told what is being done."""
        if os.geteuid() != 0:
            raise LabError("a lab needs root, for network namespaces and eBPF; run it with sudo")
        missing = self.programs.missing()
        if missing:
            raise LabError(f"{', '.join(missing)} not built in {self.programs.build}; "
                           "run `meson setup build && ninja -C build`")
        self.down()
        say("making network namespaces and the links between them …")
        topology.build(self.net)
        self.file = File(self.net.records().parent / "files")
        for name in backends:
            say(f"starting nginx and guideway-agent on {name} …")
            self.add_backend(name)

    def add_backend(self, name):
        if name not in self.net.present():
            topology.add_backend(self.net, name)
        start_web(self.net, name, self.file.path.parent)
        self.agent(name).attach()

    def down(self):
        with ending.ignored():
            present = self.net.present()
            if (self.programs / "guideway-agent").exists():
                for name in topology.BACKENDS:
                    if name in present:
                        self.agent(name).detach()
            self.net.clean()

    # -- what is in it --------------------------------------------------------------------------------------

    def agent(self, name):
        return Agent(self.net, name, self.programs / "guideway-agent")

    def director(self, **options):
        return Director(self.net, self.programs, **options)

    def load(self, service="v4v4", **options):
        return Load(self.net, self.programs / "gw-load", service, **options)

    def download(self, service="v4v4", rate="500k"):
        return Download(self.net, self.file, service, rate)

    def reset_log(self, name):
        self.net.log(name).unlink(missing_ok=True)

    def start_web(self, name):
        return start_web(self.net, name, self.file.path.parent)

    def stop_web(self, name):
        stop_web(self.net, name)
