"""Director: guidewayd in the lab's director namespace, its two files, and the CLI that talks to it."""
import json
import os
import pathlib
import signal
import time

from namespaces import LabError, command
from topology import BACKENDS, DIRECTOR_V4, DIRECTOR_V6, MTU_INSIDE, MTU_OUTSIDE, SERVICES

DIRECTOR_TOML = """\
[director]
source_ipv4 = "{v4}"
source_ipv6 = "{v6}"
workers = {workers}
polling = "adaptive"
admin_socket = "{home}/api.sock"
state_dir = "{home}/state"
metrics = "127.0.0.1:9464"
hugepages = false
memory_mb = 256

[[port]]
name = "wan"
device = "{device}:wan"
mtu = {outside}
queues = {queues}

[[port]]
name = "lan"
device = "{device}:lan"
mtu = {inside}
queues = {queues}
"""

POOL_TOML = """\
[[pool]]
name = "{name}"
rows = {rows}
flow_table = {flow_table}
timeouts = {{ closing = "2s" }}
health = {{ type = "http", port = 8080, path = "/healthz", interval = "400ms", timeout = "400ms", rise = 2, fall = 3 }}
"""

BACKEND_TOML = """\
[[pool.backend]]
name = "{name}"
address = "{address}"
"""

SERVICE_TOML = """\
[[service]]
name = "{name}"
address = "{address}"
protocol = "tcp"
ports = [80]
pool = "{pool}"
"""


def site_toml(backends=("b1", "b2", "b3"), rows=65537, flow_table=True):
    """Four services, of both families over backends of both families; two pools, `web` (IPv4) and `web6` (IPv6)."""
    out = 'hash_seed = "0x5eed"\n'
    for pool, family in (("web", 0), ("web6", 1)):
        out += POOL_TOML.format(name=pool, rows=rows, flow_table=str(flow_table).lower())
        for name in backends:
            out += BACKEND_TOML.format(name=name, address=BACKENDS[name][family])
    for service, address in SERVICES.items():
        out += SERVICE_TOML.format(name=service, address=address, pool="web6" if service.endswith("v6") else "web")
    return out


class Refused(LabError):
    """The CLI did not do it: its exit code and its sentence."""

    def __init__(self, argv, code, text):
        super().__init__(f"guideway {' '.join(argv)}: exit code {code}: {text}")
        self.code, self.text = code, text


class Director:
    """One guidewayd. Its files lie in `home`; a second start finds the journal of the first."""

    def __init__(self, net, programs, home=None, device="af_packet", workers=(1,)):
        self.net, self.programs, self.device, self.workers = net, programs, device, list(workers)
        self.home = pathlib.Path(home or net.run_dir / "director")
        self.home.mkdir(parents=True, exist_ok=True)
        self.process = None
        self.killed = False
        self.director_file = self.home / "director.toml"
        self.site_file = self.home / "site.toml"
        self.socket = self.home / "api.sock"

    def write_files(self, site=None, director=None):
        self.site_file.write_text(site if site is not None else site_toml())
        self.director_file.write_text(director if director is not None else DIRECTOR_TOML.format(
            v4=DIRECTOR_V4, v6=DIRECTOR_V6, workers=self.workers, home=self.home, device=self.device,
            outside=MTU_OUTSIDE, inside=MTU_INSIDE, queues=len(self.workers)))

    def argv(self):
        return [self.programs / "guidewayd", "--director", self.director_file, "--site", self.site_file]

    def start(self):
        """Starts it and waits until it answers and its backends are known to be up."""
        self.process = self.net.start("director", "guidewayd", self.argv())
        self.killed = False
        end = time.monotonic() + 15
        while True:
            if not self.process.alive():
                raise LabError(f"guidewayd ended at its start: {self.log()[-800:]}")
            if self.socket.exists() and self.call("status", check=False).returncode == 0:
                break
            if time.monotonic() > end:
                raise LabError(f"guidewayd does not answer on {self.socket}: {self.log()[-800:]}")
            time.sleep(0.02)
        self.net.own_dpdk_folders("director")
        return self

    def stop(self):
        if self.process is not None:
            self.process.stop()

    def kill(self):
        """kill -9."""
        self.killed = True
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(5)

    def log(self):
        path = self.net.log("guidewayd")
        return path.read_text() if path.exists() else ""

    # -- the CLI --------------------------------------------------------------------------------------------

    def call(self, *words, check=True):
        """`guideway WORDS…`, as a finished process; refusals raise unless check is off."""
        argv = [str(word) for word in words]
        # A unix socket is no matter of network namespaces: no need to enter the director's.
        result = command([self.programs / "guideway", *argv, "--socket", self.socket], check=False)
        if check and result.returncode != 0:
            raise Refused(argv, result.returncode, (result.stderr or result.stdout).strip())
        return result

    def json(self, *words):
        return json.loads(self.call(*words, "--json").stdout)

    def rows(self, pool="web"):
        """How many rows each backend comes first in."""
        backends = self.json("backend", "list", pool)["backends"]
        return {backend["name"]: backend["first_rows"] for backend in backends if backend["first_rows"]}
