"""guideway-replay against the model, byte by byte: at least 10,000 random packets a run, over every encapsulation."""
import collections
import os
import pathlib
import subprocess

import pytest
from scapy.utils import RawPcapReader, RawPcapWriter

from director_model import Pool
from random_packets import random_packet, stream

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPLAY = pathlib.Path(os.environ.get("GUIDEWAY_BUILD", ROOT / "build")) / "src" / "replay" / "guideway-replay"
SEED = int(os.environ.get("ORACLE_SEED", "1"))

POOLS = {
    "gue-v4": dict(encapsulation="gue", outer=4, draining=("b2",)),  # rows of two and of three hops
    "gue-v6": dict(encapsulation="gue", outer=6, draining=("b4", "b5")),
    "gue-v4-two-hops-client-affinity-tag": dict(encapsulation="gue", outer=4, hops=2, affinity="client", vlan=77),
    "gue-v6-one-hop-tos-zero": dict(encapsulation="gue", outer=6, hops=1, tos="zero"),
    "gue-v4-udp-checksum": dict(encapsulation="gue", outer=4, udp_checksum=True, vlan=9),
    "gue-v6-udp-checksum": dict(encapsulation="gue", outer=6, udp_checksum=True),
    "ipip-v4": dict(encapsulation="ipip", outer=4),
    "ipip-v6": dict(encapsulation="ipip", outer=6),
    "gre-v4": dict(encapsulation="gre", outer=4, tos="zero"),
    "gre-v6": dict(encapsulation="gre", outer=6),
    "l2": dict(encapsulation="l2", outer=4),
}
PACKETS_EACH = 1000  # 11 pools and the narrow ones: more than 10,000


def replay(folder, pool, frames):
    (folder / "site.toml").write_text(pool.site())
    (folder / "director.toml").write_text(pool.director())
    with RawPcapWriter(str(folder / "in.pcap"), linktype=1) as writer:
        for frame in frames:
            writer.write(frame)
    done = subprocess.run([REPLAY, "--site", folder / "site.toml", "--director", folder / "director.toml", "--in",
                           folder / "in.pcap", "--out", folder / "out.pcap", "--report", folder / "report.json"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    reader = RawPcapReader(str(folder / "out.pcap"))
    frames = [bytes(data) for data, _ in reader]
    reader.close()
    return frames


def compare(pool, sent, left):
    """The same frames, as often; in whatever order, since early fragments wait."""
    expected = collections.Counter(frame for one in sent for frame in pool.frames(one.inner, one.tos, one.flow))
    left = collections.Counter(left)
    assert expected
    missing, unexpected = expected - left, left - expected
    assert not missing and not unexpected, (
        f"{sum(missing.values())} of {sum(expected.values())} frames did not leave as expected, seed {SEED}\n"
        f"expected {min(missing, default=b'').hex()}\nleft     {min(unexpected, default=b'').hex()}")


def packets(seed, count, **kind):
    rng = stream(seed)
    sent = []
    for _ in range(count):
        sent.extend(random_packet(rng, **kind))
    return sent


@pytest.mark.parametrize("name", POOLS)
def test_every_packet_leaves_as_the_design_says(name, tmp_path):
    if not REPLAY.exists():
        pytest.skip(f"not built: {REPLAY}")
    pool = Pool(**POOLS[name])
    sent = packets(f"{SEED} {name}", PACKETS_EACH)
    compare(pool, sent, replay(tmp_path, pool, [one.frame for one in sent]))


@pytest.mark.parametrize("name", ["gue-v4", "gue-v6", "gue-v6-udp-checksum", "ipip-v4", "gre-v6"])
def test_what_does_not_fit_leaves_in_pieces(name, tmp_path):
    if not REPLAY.exists():
        pytest.skip(f"not built: {REPLAY}")
    pool = Pool(**POOLS[name], mtu=576)
    sent = [one for one in packets(f"{SEED} narrow {name}", 400, most=2000, dont_fragment=False)
            if one.inner[0] >> 4 == 4 or len(one.inner) + pool.outer_size(one.flow) <= 576]
    assert any(len(one.inner) > 576 for one in sent)
    compare(pool, sent, replay(tmp_path, pool, [one.frame for one in sent]))
