"""Build: every source file is compiled by a meson.build, every meson.build is reached.

A test that no build names passes for ever: its line may be lost in a merge without a word from anybody.
"""
import pathlib
import re

import pytest
from test_sources import ROOT, tracked

COMPILED = ("src", "tables", "tests", "bench")
STRING = re.compile(r"'([^'\n]*)'")


def strings_of(text):
    """The strings of a meson.build, comments left out."""
    found = []
    for line in text.splitlines():
        code = re.sub(r"'[^'\n]*'", lambda string: string.group().replace("#", "\0"), line).split("#")[0]
        found += [string.replace("\0", "#") for string in STRING.findall(code)]
    return found


def names(strings, file):
    """True for the file's name as it is, and for one put together: 'api' in a list, + '_test.cpp' in its loop."""
    return file in strings or any(file.endswith(end) and file[:-len(end)] in strings for end in strings if end)


def builds_above(path):
    """The meson.build files that may name a path, each with how the path is called from there."""
    for folder in path.parents:
        if (ROOT / folder / "meson.build").is_file():
            yield folder / "meson.build", path.relative_to(folder).as_posix()


def is_named(path):
    return any(names(strings_of((ROOT / build).read_text()), called) for build, called in builds_above(path))


SOURCES = [pathlib.Path(name) for name in tracked(".cpp", ".c") if name.startswith(tuple(top + "/" for top in COMPILED))]


def test_every_source_file_is_built():
    assert len(SOURCES) > 100
    forgotten = [str(path) for path in SOURCES if not is_named(path)]
    assert not forgotten, f"named in no meson.build: {forgotten}"


def test_every_build_file_is_reached():
    forgotten = []
    for name in tracked(".build"):
        folder = pathlib.Path(name).parent
        if folder == pathlib.Path("."):
            continue
        above = [pathlib.Path(name) for name in tracked(".build") if pathlib.Path(name).parent in folder.parents]
        if not any(names(strings_of((ROOT / build).read_text()), folder.relative_to(build.parent).as_posix())
                   for build in above):
            forgotten.append(name)
    assert not forgotten, f"no subdir() leads there: {forgotten}"


@pytest.mark.parametrize("text, file, named", [
    ("executable('t', 'a_test.cpp', 'b_test.cpp')", "a_test.cpp", True),
    ("executable('t', 'a_test.cpp', 'b_test.cpp')", "c_test.cpp", False),
    ("executable('t', 'a_test.cpp')  # 'c_test.cpp'", "c_test.cpp", False),
    ("args: ['#', 'a.cpp']", "a.cpp", True),
    ("executable('t', 'aa_test.cpp')", "a_test.cpp", False),
    ("foreach s : ['a', 'b']\n  executable(s, s + '_test.cpp')", "b_test.cpp", True),
    ("foreach s : ['a', 'b']\n  executable(s, s + '_test.cpp')", "c_test.cpp", False),
    ("foreach s : ['a', 'b']\n  executable(s, s + '_fuzz.cpp')", "a_test.cpp", False),
])
def test_what_counts_as_named(text, file, named):
    assert names(strings_of(text), file) == named
