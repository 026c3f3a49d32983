#!/usr/bin/python3
"""Story: what deploy/quickstart shows, in plain lines, each figure counted by the lab's own client.

Ends with 0 only when nothing failed that should not have.
"""
import signal

# Until there is something to take down, Ctrl-C ends this at once and without a word.
signal.signal(signal.SIGINT, signal.SIG_DFL)

import argparse
import json
import os
import subprocess
import sys
import time

from ending import Ended
from lab import Lab
from namespaces import LabError
from reroute import Reroute
from topology import BACKENDS, SERVICES, SILENT_CLIENT_V4

NAMES = ("b1", "b2", "b3")
STAYING = 720  # connections kept open, so that well over 200 run through each of three backends
M = 65537


class Story:
    def __init__(self, lab):
        self.lab = lab
        self.began = time.monotonic()
        self.wrong = []
        self.director = None

    # -- telling --------------------------------------------------------------------------------------------

    def chapter(self, text):
        print(f"\n[{time.monotonic() - self.began:3.0f}s] {text}", flush=True)

    def say(self, text):
        print(f"       {text}", flush=True)

    def demand(self, good, text):
        """A line that must be true."""
        print(f"  {'ok  ' if good else 'FAIL'} {text}", flush=True)
        if not good:
            self.wrong.append(text)
        return good

    def demand_no_failure(self, report, what):
        kinds = "".join(f", {kind} {count}" for kind, count in report["failures"].items())
        self.demand(report["failed"] == 0, f"{what}: {report['requests']} requests on {report['connections']} "
                                           f"connections, {report['failed']} failed{kinds}")

    def shares(self, report):
        total = sum(report["connections_by_backend"].values()) or 1  # all may have failed
        rows = self.director.rows()
        self.say("; ".join(f"{name} {100 * report['connections_by_backend'].get(name, 0) / total:.1f} % of the "
                           f"connections, {100 * count / M:.1f} % of the rows" for name, count in sorted(rows.items())))

    # -- the chapters ---------------------------------------------------------------------------------------

    def raise_lab(self):
        self.chapter("A lab on this machine: client — router — director — b1, b2, and b3 behind a second router")
        self.lab.up(say=self.say)
        self.say("starting guidewayd …")
        self.director = self.lab.director()
        self.director.write_files()
        self.director.start()
        status = self.director.json("status")
        ports = ", ".join(f"{port['name']} ({port['driver']}, MTU {port['mtu']})" for port in status["ports"])
        self.say(f"guidewayd runs: {ports}; epoch {status['epoch']}; guideway-agent and nginx on each backend")

    def requests(self):
        self.chapter(f"Requests to the service address {SERVICES['v4v4']}, over IPv4 and IPv6")
        for service in ("v4v4", "v6v4"):
            report = self.lab.load(service, connections=20, requests=1, count=2000).finish()
            self.demand_no_failure(report, SERVICES[service])
            self.shares(report)

    def drain(self):
        download = self.lab.download(rate="500k")
        victim = download.backend
        self.chapter(f"A drain of {victim}, while a slow download and {STAYING} connections run")
        staying = self.lab.load(connections=STAYING, requests=0, pause_ms=100, timeout_ms=4000).wait_ready()
        short = self.lab.load(connections=10, requests=1, pause_ms=0, timeout_ms=4000)
        probe = Reroute(self.lab.net, self.port_of(victim))
        try:
            probe.backend()
            command_at = time.time_ns()
            answer = self.director.json("backend", "drain", "web", victim)
            answered_at = time.monotonic_ns()
            took_ms = (time.time_ns() - command_at) / 1e6
            rerouted_ms = probe.first_elsewhere(command_at)
        finally:
            probe.stop()
        self.demand(download.running(), "the download was still running when the drain was done")
        self.say(f"{answer['rows_moved']} of {M} rows moved; the command took {took_ms:.0f} ms, the first packet that "
                 f"went elsewhere left {rerouted_ms:.1f} ms after it was typed" if rerouted_ms is not None else
                 "no packet went elsewhere")
        self.demand(rerouted_ms is not None, "new connections of the drained rows go elsewhere")
        time.sleep(1.5)
        self.demand(download.finish(), f"the download from {victim} ended with the right checksum "
                                       f"({self.lab.file.size >> 20} MiB)")
        report = staying.finish(stop=True)
        through = report["connections_by_backend"].get(victim, 0)
        self.demand(through >= 200, f"{through} of the open connections ran through {victim} and stayed there")
        self.demand_no_failure(report, "connections that stayed open")
        report = short.finish(stop=True)
        self.demand_no_failure(report, "short connections meanwhile")
        late = [r for r in short.records() if r.start > answered_at and r.backend == victim]
        self.demand(not late, f"{len(late)} new connections reached {victim} after the command's answer")
        self.director.call("backend", "undrain", "web", victim)
        self.say(f"{victim} is back: {self.rows_of(victim)} rows")

    def rows_of(self, backend):
        return self.director.rows().get(backend, 0)  # none while its health check fails

    def port_of(self, backend):
        """A source port of the silent client whose row is the backend's."""
        for port in range(20000, 20100):
            flow = self.director.json("explain", "tcp", f"{SILENT_CLIENT_V4}:{port}", f"{SERVICES['v4v4']}:80")
            if any(hop["backend"] == backend for hop in flow["hops"][:1]):
                return port
        raise LabError(f"no port of 100 leads to {backend}")

    def fourth_backend(self):
        self.chapter("A fourth backend is added under load")
        self.lab.add_backend("b4")
        staying = self.lab.load(connections=200, requests=0, pause_ms=50).wait_ready()
        short = self.lab.load(connections=10, requests=1)
        time.sleep(0.3)
        answer = self.director.json("backend", "add", "web", "b4", BACKENDS["b4"][0])
        self.say(f"{answer['rows_moved']} rows moved; an even share of four is {M // 4}")
        self.demand(abs(answer["rows_moved"] - M / 4) <= 3, "no row moved without need")
        time.sleep(1)
        self.demand_no_failure(staying.finish(stop=True), "connections that stayed open")
        report = short.finish(stop=True)
        self.demand_no_failure(report, "short connections meanwhile")
        self.demand(report["connections_by_backend"].get("b4", 0) > 0,
                    f"b4 took {report['connections_by_backend'].get('b4', 0)} new connections")

    def killed_backend(self):
        self.chapter("The web server of b2 is killed; nobody tells the director")
        short = self.lab.load(connections=10, requests=1, pause_ms=0)
        time.sleep(0.3)
        rows = self.rows_of("b2")
        self.demand(rows > 0, f"b2 served {rows} rows when it was killed")
        self.lab.stop_web("b2")
        died = time.monotonic_ns()
        while self.rows_of("b2") and time.monotonic_ns() - died < 10e9:
            time.sleep(0.01)
        found = time.monotonic_ns()
        self.say(f"found by its health check after {(found - died) / 1e6:.0f} ms (every 400 ms, three failures); "
                 f"its {rows} rows are taken over")
        time.sleep(0.5)
        short.finish(stop=True)
        late = [r for r in short.records() if r.start > found and r.outcome != "ok"]
        between = [r for r in short.records() if r.outcome != "ok" and r.start <= found]
        self.say(f"{len(between)} connections met the dead server before it was found: no balancer can save those")
        self.demand(found - died < 10e9, "its health check found it, and no row leads to it any more")
        self.demand(not late, f"{len(late)} connections failed after it was found")
        self.lab.start_web("b2")

    def replay(self):
        self.chapter("A capture, replayed through the same data plane with a drain in the middle")
        capture = self.lab.net.run_dir / "client.pcap"
        tcpdump = self.lab.net.start("director", "tcpdump", ["tcpdump", "-i", "wan", "-Q", "in", "-U", "-w", capture,
                                                             "--immediate-mode", "tcp port 80"])
        end = time.monotonic() + 10
        while not capture.exists():
            if not tcpdump.alive() or time.monotonic() > end:
                raise LabError(f"tcpdump does not capture: {self.lab.net.log('tcpdump').read_text().strip()}")
            time.sleep(0.02)
        time.sleep(0.2)
        self.lab.load(connections=10, requests=5, count=100).finish()
        time.sleep(0.2)
        tcpdump.stop()
        report_file = self.lab.net.run_dir / "report.json"
        done = subprocess.run([self.lab.programs / "guideway", "replay", "--site", self.director.site_file,
                               "--at", "200:backend drain web b1", "--in", capture, "--report", report_file],
                              capture_output=True, text=True, env=self.lab.programs.environment())
        if not self.demand(done.returncode == 0, "guideway replay ran: " + (done.stderr.strip() or "no complaint")):
            return
        report = json.loads(report_file.read_text())
        verdicts = {name: entry["packets"] for name, entry in report["verdicts"]["pass"].items()
                    if entry["packets"]}
        dropped = sum(entry["packets"] for entry in report["verdicts"]["drop"].values())
        self.say(f"{report['packets_in']} packets in: " +
                 ", ".join(f"{name} {count}" for name, count in verdicts.items()) + f", dropped {dropped}")
        self.demand(report["packets_in"] == sum(verdicts.values()) + dropped, "every packet is accounted for")
        self.demand(report["connections"]["broken"] == 0, f"{report['connections']['broken']} connections broken by the drain")

    def tell(self):
        for chapter in (self.raise_lab, self.requests, self.drain, self.fourth_backend, self.killed_backend, self.replay):
            chapter()
        stats = self.director.json("stats")
        seen = {name: entry["packets"] for group in ("verdicts", "drops") for name, entry in stats[group].items()
                if entry["packets"]}
        self.chapter(f"In all: {stats['packets_in']:,} packets in = " +
                     " + ".join(f"{count:,} {name}" for name, count in seen.items()))
        # What the LAN floods to others (other_mac) was never the director's to forward.
        drops = [name for name in stats["drops"] if seen.get(name) and name != "other_mac"]
        self.demand(not drops, "the director dropped nothing" if not drops else f"dropped: {', '.join(drops)}")


def main():
    parser = argparse.ArgumentParser(prog="deploy/quickstart", description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="leave the lab running")
    arguments = parser.parse_args()
    try:
        with Lab("lab") as lab:
            if lab.net.present():
                print("the lab that was left up is taken down first", flush=True)
            story = Story(lab)
            story.tell()
            if arguments.keep:
                lab.keep()
                print("\nthe lab runs on; try: deploy/lab guideway status; deploy/lab guideway backend drain web b1; "
                      f"deploy/lab exec client curl http://{SERVICES['v4v4']}/; end it with deploy/lab down")
        print(f"\n{'all of it held' if not story.wrong else f'{len(story.wrong)} FAILED: ' + '; '.join(story.wrong)}, "
              f"{time.monotonic() - story.began:.0f} s")
        return 1 if story.wrong else 0
    except LabError as error:
        print(f"deploy/quickstart: {error}", file=sys.stderr)
        return 1
    except Ended as ended:
        print(f"\ndeploy/quickstart: ended by {ended}; cleaned up", file=sys.stderr)
        return ended.code
    except BrokenPipeError:  # whoever read this has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
