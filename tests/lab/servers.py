"""Servers: what runs on a backend of the lab: a web server that says who it is, and guideway-agent.

    GET /             "NAME PORT\\n": the backend's name and the client's port as the server sees it
    GET /files/F      a file, the same on every backend; ?rate=500k slows it down; X-Backend names the server
    PUT /uploads/F    takes a file
    GET /healthz      for health checks, also on port 8080
"""
import hashlib
import json
import os
import time

from namespaces import LabError
from topology import BACKENDS, DIRECTOR_V4, DIRECTOR_V6, SERVICES

FILE_BYTES = 4 << 20

NGINX = """
daemon off; master_process off; user root; pid {home}/nginx.pid; error_log {home}/error.log;
events {{ worker_connections 8192; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600s; default_type text/plain;
  client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/fastcgi;
  uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi; client_max_body_size 1g;
  server {{
    listen 80 backlog=4096; listen [::]:80 backlog=4096; listen 8080; listen [::]:8080;
    location = / {{ return 200 "{name} $remote_port\\n"; }}
    location = /healthz {{ return 200 "ok\\n"; }}
    location /files/ {{ alias {files}/; add_header X-Backend {name}; limit_rate $arg_rate; }}
    location /uploads/ {{ alias {home}/uploads/; dav_methods PUT; add_header X-Backend {name} always; }}
  }}
}}
"""


class File:
    """A file of random bytes that every backend serves, and its checksum."""

    def __init__(self, folder, name="random", size=FILE_BYTES):
        self.name, self.size = name, size
        folder.mkdir(parents=True, exist_ok=True)
        data = os.urandom(size)
        self.path = folder / name
        self.path.write_bytes(data)
        self.sha256 = hashlib.sha256(data).hexdigest()


def start_web(net, name, files):
    home = net.run_dir / f"web-{name}"
    (home / "uploads").mkdir(parents=True, exist_ok=True)
    config = home / "nginx.conf"
    config.write_text(NGINX.format(home=home, name=name, files=files))
    process = net.start(name, f"web-{name}", ["nginx", "-p", home, "-e", home / "error.log", "-c", config])
    end = time.monotonic() + 5
    while net.run(name, ["curl", "-s", "-o", "/dev/null", "--max-time", "1", "http://127.0.0.1:8080/healthz"],
                  check=False).returncode != 0:
        if not process.alive() or time.monotonic() > end:
            said = (home / "error.log").read_text() if (home / "error.log").exists() else ""
            raise LabError(f"the web server of {name} does not answer: "
                           f"{(said + net.log(f'web-{name}').read_text()).strip()[-600:]}")
        time.sleep(0.02)
    return process


def stop_web(net, name):
    net.processes[f"web-{name}"].kill()


class Agent:
    """guideway-agent on one backend, told of the director, of its peers and of the service addresses."""

    INTERFACE = "eth0"

    def __init__(self, net, name, program):
        self.net, self.name, self.program = net, name, program

    def call(self, *words, check=True):
        return self.net.run(self.name, [self.program, *words], check=check)

    def attach(self):
        others = [address for name, pair in BACKENDS.items() if name != self.name for address in pair]
        self.call("attach", self.INTERFACE, "--director", f"{DIRECTOR_V4},{DIRECTOR_V6}", "--peer", ",".join(others),
                  "--service", ",".join(SERVICES.values()))

    def detach(self):
        self.call("detach", self.INTERFACE, check=False)

    def counters(self):
        """Counters by verdict, added up."""
        status = json.loads(self.call("status", self.INTERFACE, "--json").stdout)
        return status["interfaces"][0]["counters"]
