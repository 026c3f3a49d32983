"""Sources: form and size of every file in the tree, by the tools of the trade.

A tool that is missing is a skip with its name; deploy/install-packages brings them all.
"""
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES_MAX = 600  # a file beyond it holds two concepts
# Names of the trade (ND, ECT), of interfaces, and mistakes that tests make on purpose.
WORDS_OF_OURS = "nd,ect,fo,te,wieght"
LINES_EXCEPTIONS = set()  # relative path, with the reason beside it


def tracked(*suffixes):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:  # an unpacked archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                 if path.is_file() and not path.relative_to(ROOT).parts[0].startswith(("build", "."))]
    return [name for name in names
            if (ROOT / name).is_file() and (not suffixes or pathlib.Path(name).suffix in suffixes)]


def tool(name):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed; deploy/install-packages brings it")
    return name


def run(command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def shell_scripts():
    return [name for name in tracked()
            if name.endswith(".sh") or (pathlib.Path(name).suffix == "" and first_line(name).endswith(("bash", "/sh")))]


def first_line(name):
    with open(ROOT / name, "rb") as file:
        return file.readline(200).decode(errors="replace").strip()


def test_clang_format():
    files = tracked(".cpp", ".h", ".c")
    result = run([tool("clang-format"), "--dry-run", "--Werror", *files])
    assert result.returncode == 0, "run clang-format -i on:\n" + "\n".join(
        sorted({line.split(":")[0] for line in result.stderr.splitlines() if ": error:" in line}))


def test_shellcheck():
    files = shell_scripts()
    assert files
    result = run([tool("shellcheck"), "-x", *files])
    assert result.returncode == 0, result.stdout


def test_codespell():
    result = run([tool("codespell"), "--skip", "*.json,*.pcap,*.svg", "-L",
                  WORDS_OF_OURS, *tracked()])
    assert result.returncode == 0, result.stdout


def test_no_file_is_too_long():
    long = {}
    for name in tracked(".cpp", ".h", ".c", ".py"):
        lines = (ROOT / name).read_bytes().count(b"\n")
        if lines > LINES_MAX and name not in LINES_EXCEPTIONS:
            long[name] = lines
    assert not long, f"above {LINES_MAX} lines: {long}"


def test_headers_open_with_what_they_are():
    """Every header starts with a comment that names its concept, before the guard."""
    bare = [name for name in tracked(".h") if not first_line(name).startswith(("//", "/*"))]
    assert not bare, f"no opening comment: {bare}"


def test_headers_are_guarded():
    bare = [name for name in tracked(".h")
            if not any(mark in (ROOT / name).read_text() for mark in ("#pragma once", "#ifndef"))]
    assert not bare, f"no include guard: {bare}"
