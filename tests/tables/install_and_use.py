"""Installs libguideway aside, builds examples/place.cpp against it by pkg-config alone, and runs that.

Arguments: SOURCE BUILD COMPILER... (the compiler with the flags that the build's sanitizers ask for).
"""
import os
import pathlib
import subprocess
import sys
import tempfile

EXAMPLE_LINES_MAX = 40
NODES = "web-1,web-2=200,web-3"


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    source, build, *compiler = sys.argv[1:]
    example = pathlib.Path(source) / "examples" / "place.cpp"
    assert len(example.read_text().splitlines()) < EXAMPLE_LINES_MAX, "the example is to stay short"
    with tempfile.TemporaryDirectory(prefix="guideway-install-") as name:
        root = pathlib.Path(name)
        run(["meson", "install", "-C", build, "--no-rebuild", "--tags", "devel", "--destdir", root])
        (description,) = root.rglob("guideway.pc")
        environment = dict(os.environ, PKG_CONFIG_PATH=str(description.parent), PKG_CONFIG_SYSROOT_DIR=str(root))
        flags = run(["pkg-config", "--cflags", "--libs", "--static", "guideway"], env=environment).split()
        assert str(root) in " ".join(flags), f"pkg-config found another libguideway: {flags}"
        # Away from the source tree, so that no header of it can help.
        program = root / "place"
        run([*compiler, "-std=c++20", example, "-o", program, *flags], cwd=root)

        lines = run([program, "rendezvous", NODES, "alice", "bob", "carol"]).splitlines()
        assert [line.split(" -> ")[0] for line in lines] == ["alice", "bob", "carol"], lines
        assert {line.split(" -> ")[1] for line in lines} <= {"web-1", "web-2", "web-3"}, lines
        assert lines == run([program, "rendezvous", "web-3,web-1,web-2=200", "alice", "bob", "carol"]).splitlines()

        refused = subprocess.run([program, "jump", NODES, "alice"], capture_output=True, text=True)
        assert refused.returncode == 1 and "jump has no weights" in refused.stderr, refused
        help_text = subprocess.run([program], capture_output=True, text=True)
        assert help_text.returncode == 2 and "guideway: " in help_text.stderr, help_text


main()
