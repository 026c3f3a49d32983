"""Instructions a packet takes in the pipeline, counted by callgrind: the same on a busy machine as on a quiet one.

What is counted is what bench_dataplane runs for a burst of a case behind receiving it (run_counted): every stage, the
counters, the flow table's sweep. limits.toml holds what each case is allowed to take, and says for which build.

    python3 tests/bench/instructions.py            counts and judges
    python3 tests/bench/instructions.py --renew    and writes what it counted into limits.toml
"""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GUIDEWAY_BUILD", ROOT / "build"))
BENCH = BUILD / "bench" / "bench_dataplane"
LIMITS = pathlib.Path(__file__).with_name("limits.toml")
BURSTS, BURST = 640, 32  # ten sweeps; counting is exact, so more would only take longer


def limits():
    return tomllib.loads(LIMITS.read_text())


def build_name():
    """What a count depends on beside the sources."""
    made_by = subprocess.run(["readelf", "-p", ".comment", BENCH], capture_output=True, text=True, check=True).stdout
    # The C library's own pieces are signed as well, by gcc.
    compiler = re.search(r"clang version (\d+)", made_by) or re.search(r"GCC: \([^)]*\) (\d+)", made_by)
    options = {option["name"]: option["value"]
               for option in json.loads((BUILD / "meson-info" / "intro-buildoptions.json").read_text())}
    name = (f"{'clang' if compiler[0].startswith('clang') else 'gcc'} {compiler[1]}, "
            f"-O{options['optimization']}, {platform.machine()}")
    return name + "".join(f", {key}={options[key]}" for key, usual in (("b_sanitize", "none"), ("b_lto", False), ("cpp_args", []))
                          if options[key] != usual)


def why_not():
    """Why nothing can be said here, or nothing."""
    if not BENCH.exists():
        return f"not built: {BENCH}"
    if shutil.which("valgrind") is None:
        return "valgrind is not installed; deploy/install-packages brings it"
    # valgrind hands the processor's features on, up to AVX2: wherever that is, the C library and run-time picks of ours
    # choose the same, with AVX-512 beneath or not.
    if " avx2 " not in pathlib.Path("/proc/cpuinfo").read_text():
        return "the limits are for a processor with AVX2"
    if build_name() != limits()["build"]:
        return f"the limits are for {limits()['build']}, this is {build_name()}"
    return None


def count(cases):
    """{case: instructions a packet}, all of one process, so that DPDK starts once."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "counts"
        bare = [word for case in cases for word in ("--bare", case)]
        # Functions are bound at the start, else a first call would count what finding it took.
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=guideway::bench::run_counted*",
             "--dump-after=guideway::bench::run_bare*", BENCH, *bare, "--bursts", str(BURSTS)],
            capture_output=True, text=True, timeout=600, env=os.environ | {"LD_BIND_NOW": "1"})
        assert done.returncode == 0, done.stderr
        # A file for each case, numbered, and one for what came after the last.
        totals = [int(re.search(r"^(?:totals|summary): (\d+)", (out.parent / f"{out.name}.{n}").read_text(), re.M)[1])
                  for n in range(1, len(cases) + 1)]
    assert all(totals), f"callgrind did not see the function to count in: {totals}"
    return {case: total / (BURSTS * BURST) for case, total in zip(cases, totals)}


def judge(counted, allowed):
    """What is wrong, a sentence each."""
    wrong = []
    for case, limit in allowed["instructions"].items():
        share = counted[case] / limit - 1
        if abs(share) > allowed["tolerance"]:
            wrong.append(f'"{case}" takes {counted[case]:.1f} instructions a packet, {share:+.1%} of the limit {limit}: ' +
                         ("find out why" if share > 0 else "well done; make it the limit") +
                         " (python3 tests/bench/instructions.py --renew)")
    for pair in allowed["services"]:
        few, many = counted[pair["few"]], counted[pair["many"]]
        if many - few > pair["more"]:
            wrong.append(f"the price of a packet grows with the number of services: {few:.1f} instructions for "
                         f"\"{pair['few']}\", {many:.1f} for \"{pair['many']}\", {pair['more']} more are allowed")
    return wrong


def renew(counted):
    lines = LIMITS.read_text().splitlines()
    for index, line in enumerate(lines):
        case = re.match(r'"(.*)" = \d+$', line)
        if case:
            lines[index] = f'"{case[1]}" = {counted[case[1]]:.0f}'
        elif line.startswith("build = "):
            lines[index] = f'build = "{build_name()}"'
    LIMITS.write_text("\n".join(lines) + "\n")


def main(arguments):
    if arguments not in ([], ["--renew"]):
        sys.exit(__doc__)
    reason = why_not()
    if reason and not (arguments and reason.startswith("the limits are for gcc")):
        sys.exit(f"instructions: {reason}")
    allowed = limits()
    counted = count(list(allowed["instructions"]))
    for case, value in counted.items():
        print(f"{case:<30} {value:8.1f}  limit {allowed['instructions'][case]}")
    if arguments:
        return renew(counted)
    sys.exit("\n".join(judge(counted, allowed)) or 0)


if __name__ == "__main__":
    main(sys.argv[1:])
