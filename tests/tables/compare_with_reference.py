#!/usr/bin/python3
"""Two readings of contract 1 side by side: libguideway and reference.py.

compare_with_reference.py VECTORS CONTRACT [RUNS [SEED]]
First every golden vector in the folder VECTORS is put to the reference; then RUNS random questions (pools, chains
of deals, states, health) are put to both, through the program CONTRACT.
"""
import json
import pathlib
import random
import subprocess
import sys

try:
    import reference
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}; install python3-xxhash")
    sys.exit(77)

WEIGHTS = [[100], [1, 2, 3, 4], [1, 65535], range(1, 1000), [7]]
STATES = ["active", "active", "active", "draining", "disabled"]
HEALTH = ["up", "up", "up", "down"]


def check_vectors(folder):
    wrong = 0
    for path in sorted(folder.glob("*.json")):
        file = json.loads(path.read_text())
        for case in file["cases"]:
            if reference.ANSWERS[file["kind"]](case["input"]) != case["expect"]:
                print(f"{path.name}: {case['what']}: the reference says otherwise")
                wrong += 1
        print(f"{path.name}: {len(file['cases'])} cases")
    return wrong


def random_deals(rng):
    """A chain of deals: adds, removals, new weights, several at once; states drift between them."""
    names = [f"{rng.choice(['web', 'b', 'Z', '-', '_x.'])}{i}" for i in range(rng.randint(1, 14))]
    weights = rng.choice(WEIGHTS)
    members, deals = {}, []
    for _ in range(rng.randint(1, 8)):
        states = {name: rng.choice(STATES) for name in members if rng.random() < 0.5}
        for name in rng.sample(names, rng.choice([1, 1, 1, min(2, len(names)), len(names)])):
            if name in members and rng.random() < 0.6:
                del members[name]
            else:
                members[name] = rng.choice(weights)
        listed = [[name, members[name]] for name in sorted(members, key=str.encode)]
        deals.append({"states_before": states, "members": listed, "mode": rng.choice(["stable"] * 4 + ["scratch"])})
    return deals


def random_question(rng):
    pool = {"seed": f"0x{rng.choice([0, 1, rng.getrandbits(64), 2**64 - 1]):x}",
            "rows": rng.choice([251, 251, 257, 509]), "deals": random_deals(rng)}
    if rng.random() < 0.5:
        return "deal", pool
    members = [name for name, _ in pool["deals"][-1]["members"]]
    status = {name: [rng.choice(STATES), rng.choice(HEALTH)] for name in members if rng.random() < 0.7}
    return "rows", pool | {"status": status, "hops": rng.randint(1, 3),
                           "panic": rng.choice([0, 0, 0.3, 0.5, 0.55, 0.7, 1]),
                           "none_healthy": rng.choice(["all", "drop"])}


def compare(program, runs, seed):
    rng = random.Random(seed)
    wrong = 0
    with subprocess.Popen([program, "answer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as asked:
        for run in range(runs):
            kind, question = random_question(rng)
            line = json.dumps({"kind": kind, "input": question})
            asked.stdin.write(line + "\n")
            asked.stdin.flush()
            reply = asked.stdout.readline()
            if not reply:
                print(f"run {run}: {program} gave no answer to {line}")
                return wrong + 1
            if json.loads(reply) != reference.ANSWERS[kind](question):
                print(f"run {run} of seed {seed}: they differ on {line}")
                wrong += 1
        asked.stdin.close()
    print(f"{runs} random questions, seed {seed}")
    return wrong


def main():
    folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 150
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    wrong = check_vectors(folder) + compare(program, runs, seed)
    print("the two readings agree" if wrong == 0 else f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
