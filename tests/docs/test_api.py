"""docs/api.md against a running director: each answer has the keys of its example, and no other."""
import http.client
import json
import os
import socket
import subprocess
import time

import pytest

from conftest import PLACES
from documents import code_blocks, read, tables

TEXT = read("docs/api.md")
SITE = """\
hash_seed = "0x5eed"
[[pool]]
name = "web"
rows = 251
health = { type = "tcp", port = 80, interval = "1h" }
[[pool.backend]]
name = "web-1"
address = "10.0.1.11"
[[pool.backend]]
name = "web-2"
address = "10.0.1.12"
[[service]]
name = "www"
address = "203.0.113.10"
protocol = "tcp"
ports = [80]
pool = "web"
"""
DIRECTOR = """\
[director]
source_ipv4 = "10.0.0.2"
workers = [{cpu}]
admin_socket = "{home}/api.sock"
state_dir = "{home}/state"
metrics = ""
hugepages = false
memory_mb = 64
[[port]]
name = "wan"
device = "ring:docs"
next_hop_mac = "02:00:00:00:00:01"
"""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Api:
    def __init__(self, path):
        self.path = path

    def request(self, method, path, body=None, **headers):
        connection = UnixConnection(self.path)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()

    def command(self, words, **fields):
        status, _, text = self.request("POST", "/v1/commands", json.dumps({"command": words} | fields))
        assert status == 200, text
        return json.loads(text)


@pytest.fixture(scope="module")
def api(build, tmp_path_factory):
    """A director on a device on which nothing happens; it needs no rights."""
    home = tmp_path_factory.mktemp("d")
    (home / "site.toml").write_text(SITE)
    (home / "director.toml").write_text(DIRECTOR.format(cpu=max(os.sched_getaffinity(0)), home=home))
    argv = [build / PLACES["guidewayd"] / "guidewayd", "--director", home / "director.toml", "--site", home / "site.toml"]
    with open(home / "log", "wb") as log:
        daemon = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    made = Api(str(home / "api.sock"))
    try:
        end = time.monotonic() + 30
        while True:
            try:
                made.request("GET", "/v1/version")
                break
            except OSError:
                assert daemon.poll() is None and time.monotonic() < end, (home / "log").read_text()[-2000:]
                time.sleep(0.05)
        made.command("health set web web-1 down")
        yield made
    finally:
        daemon.terminate()
        daemon.wait(30)


def examples():
    """Heading -> the example below it."""
    out, heading = {}, ""
    for part in TEXT.split("\n### ")[1:]:
        heading, _, rest = part.partition("\n")
        blocks = [code for words, code in code_blocks(rest) if words == "json"]
        if blocks:
            out[heading] = json.loads(blocks[0])
    return out


EXAMPLES = examples()
# Objects whose keys are names of something: any one stands for all.
BY_NAME = {"verdicts", "drops", "seatings"}


def differences(documented, seen, where=""):
    if isinstance(documented, list) and isinstance(seen, list):
        return differences(documented[0], seen[0], where + "[]") if documented and seen else []
    if isinstance(documented, dict) and isinstance(seen, dict):
        if where.rpartition(".")[2] in BY_NAME:
            return differences(next(iter(documented.values())), next(iter(seen.values())), where + ".NAME") if seen else []
        out = [f"{where}.{key} is documented and not there" for key in documented.keys() - seen.keys()]
        out += [f"{where}.{key} is there and not documented" for key in seen.keys() - documented.keys()]
        for key in documented.keys() & seen.keys():
            out += differences(documented[key], seen[key], f"{where}.{key}")
        return out
    return []


ASKED = {  # heading -> the command, and what of its answer the example is of
    "status": ("status", None),
    "stats": ("stats", None),
    "service": ("service show www", None),
    "pool": ("pool show web", None),
    "backend": ("backend list", lambda answer: answer["backends"][0]),
    "health": ("health list", None),
    "table": ("table show web", None),
    "digests": ("table digest", None),
    "diff": ("table diff web", None),
    "explain": ("explain tcp 198.51.100.7:40000 203.0.113.10:80", None),
    "flows": ("flow list", None),
    "flow": ("flow show tcp 198.51.100.7:40000 203.0.113.10:80", None),
    "purge": ("plan flow purge --pool web --backend web-1", None),
    "site": ("site export", None),
    "change": ("plan backend drain web web-2", None),
}


@pytest.mark.parametrize("heading", ASKED)
def test_an_answer_has_the_keys_of_its_example(api, heading):
    words, part = ASKED[heading]
    answer = api.command(words)
    wrong = differences(EXAMPLES[heading], part(answer) if part else answer)
    assert not wrong, "\n".join(wrong)


def test_check_has_the_keys_of_its_example(api):
    assert not differences(EXAMPLES["check"], api.command("check site.toml", input=SITE))


def test_every_example_is_compared():
    assert EXAMPLES.keys() == ASKED.keys() | {"check"}


@pytest.mark.parametrize("row", tables(TEXT)["Resources"][0], ids=lambda row: row["method and path"])
def test_a_resource_answers(api, row):
    method, path = row["method and path"].strip("`").split()
    path = path.replace("POOL", "web").replace("SERVICE", "www")
    body = {"GET": None, "PUT": SITE, "POST": '{"command": "status"}'}[method]
    status, headers, text = api.request(method, path, body)
    assert status == 200, text
    assert api.request("DELETE", path)[0] == 405
    if path == "/v1/site" and method == "GET":
        assert headers["ETag"] and headers["Content-Type"] == "application/toml" and "[[pool]]" in text
        assert json.loads(api.request("GET", path, Accept="application/json")[2]).keys() == EXAMPLES["site"].keys()


def test_an_error_is_as_documented(api):
    status, _, text = api.request("POST", "/v1/commands", '{"command": "backend drain web web-9"}')
    assert status == 404
    assert json.loads(text).keys() == {"error", "kind", "next", "where"} and json.loads(text)["kind"] == "not_found"
    status, _, text = api.request("PUT", "/v1/site", SITE, If_Match='"999"')
    assert (status, json.loads(text)["kind"]) == (412, "stale")
