"""Traffic: what a client of the lab does: loads of watched connections, downloads, uploads."""
import dataclasses
import hashlib
import json
import pathlib
import signal
import subprocess
import time

from namespaces import LabError
from topology import SERVICES


def url_host(address):
    return f"[{address}]" if ":" in address else address


@dataclasses.dataclass
class ConnectionRecord:
    """One connection as gw-load saw it; times are CLOCK_MONOTONIC nanoseconds, as time.monotonic_ns() gives."""
    start: int
    end: int
    port: int
    backend: str
    requests: int
    outcome: str


class Load:
    """gw-load in the client's namespace (load.cpp says what it counts)."""

    count = 0

    def __init__(self, net, program, service="v4v4", **options):
        Load.count += 1
        self.net, self.name = net, f"load-{Load.count}"
        self.log = net.run_dir / f"{self.name}.connections"
        words = ["--address", SERVICES.get(service, service), "--log", self.log]
        for key, value in options.items():
            words += [f"--{key.replace('_', '-')}", value]
        self.process = net.start("client", self.name, [program, *words], stdout=subprocess.PIPE)
        self.report = None

    def wait_ready(self, seconds=15):
        """Until every connection that stays open has had its first answer."""
        line = self.process.child.stdout.readline().decode()
        if line.strip() != "ready":
            raise LabError(f"the load ended before it was up: {line.strip()}")
        return self

    def finish(self, stop=False, seconds=60):
        """Its report, after it ended by itself or, with stop, was asked to."""
        if stop:
            self.process.signal(signal.SIGTERM)
        try:
            out = self.process.child.communicate(timeout=seconds)[0].decode()
        except subprocess.TimeoutExpired:
            raise LabError(f"{self.name} has not ended after {seconds} s") from None
        lines = [line for line in out.splitlines() if line.startswith("{")]
        if not lines:
            raise LabError(f"{self.name} ended without a report: {self.net.log(self.name).read_text()}")
        self.report = json.loads(lines[-1])
        return self.report

    def records(self):
        out = []
        for line in self.log.read_text().splitlines():
            start, end, port, backend, requests, outcome = line.split()
            out.append(ConnectionRecord(int(start), int(end), int(port), backend, int(requests), outcome))
        return out


class Download:
    """A download in the client's namespace, by default so slow that things can happen meanwhile."""

    count = 0

    def __init__(self, net, file, service="v4v4", rate="500k"):
        Download.count += 1
        self.net, self.file, self.name = net, file, f"download-{Download.count}"
        self.body = net.run_dir / f"{self.name}.body"
        self.head = net.run_dir / f"{self.name}.head"
        query = f"?rate={rate}" if rate else "?rate=0"
        self.process = net.start("client", self.name, [
            "curl", "-sS", "--globoff", "--max-time", "60", "-o", self.body, "-D", self.head,
            f"http://{url_host(SERVICES[service])}/files/{file.name}{query}"])
        self.backend = self.served_by()

    def served_by(self):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            for line in self.head.read_text().splitlines() if self.head.exists() else []:
                if line.lower().startswith("x-backend:"):
                    return line.split(":", 1)[1].strip()
            if not self.process.alive():
                break
            time.sleep(0.01)
        raise LabError(f"{self.name} got no answer: {self.net.log(self.name).read_text().strip()}")

    def running(self):
        return self.process.alive()

    def received(self):
        return self.body.stat().st_size if self.body.exists() else 0

    def finish(self, seconds=60):
        """True when all of the file came, byte for byte."""
        self.process.wait(seconds)
        if self.process.child.poll() != 0:
            return False
        return hashlib.sha256(self.body.read_bytes()).hexdigest() == self.file.sha256


def upload(net, data: pathlib.Path, service="v4v4"):
    """PUT through the service; the name of the backend that took it."""
    result = net.run("client", ["curl", "-sS", "--globoff", "--max-time", "20", "-o", "/dev/null", "-D", "-", "-T",
                                data, f"http://{url_host(SERVICES[service])}/uploads/{data.name}"])
    for line in result.stdout.splitlines():
        if line.lower().startswith("x-backend:"):
            return line.split(":", 1)[1].strip()
    raise LabError(f"the upload was not taken: {result.stdout}")
