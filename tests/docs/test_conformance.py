"""tests/README.md: every test that its table of packet rules names is there."""
import re

from documents import ROOT

TEXT = (ROOT / "tests" / "README.md").read_text()
TABLE = TEXT[TEXT.index("| rule |"):]


def test_every_named_test_exists():
    sources = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*_test.cpp"))
    defined = {f"{suite}.{case}" for suite, case in re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", sources, re.M)}
    named = set(re.findall(r"`(\w+\.\w+)`", TABLE))
    scripts = {name for name in named if name.endswith(".py")}
    assert len(named - scripts) > 50
    assert named - scripts <= defined, sorted(named - scripts - defined)
    assert all(any((ROOT / "tests").rglob(script)) for script in scripts), scripts


def test_every_rule_has_a_test():
    rows = [row for row in TABLE.splitlines() if row.startswith("| ")][1:]
    assert rows and all(re.search(r"`[\w.]+`", row.rsplit("|", 2)[1]) for row in rows)
