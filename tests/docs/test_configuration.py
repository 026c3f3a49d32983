"""docs/configuration.md against the readers of the three files: every key, in both directions; defaults and ranges."""
import re

import pytest

from documents import ROOT, code_blocks, quoted, read, tables

TEXT = read("docs/configuration.md")
TABLES = tables(TEXT)

POOL = '[[pool]]\nname = "web"\n'
BACKEND = POOL + '[[pool.backend]]\nname = "web-1"\naddress = "10.0.1.11"\n'
PORT = '[[port]]\nname = "wan"\ndevice = "null"\n'
# Heading -> the file, and the rest of a document in which a line of that table is put for {}.
SECTIONS = {
    "[director]": ("director.toml", "[director]\n{}\n" + PORT),
    "[[port]]": ("director.toml", PORT + "{}\n"),
    "the site": ("site.toml", "{}\n"),
    "[[pool]]": ("site.toml", POOL + "{}\n"),
    "timeouts": ("site.toml", POOL + "timeouts = {{ {} }}\n"),
    "health": ("site.toml", POOL + 'health = {{ interval = "1h", timeout = "10ms", {} }}\n'),
    "[[pool.backend]]": ("site.toml", BACKEND + "{}\n"),
    "[[service]]": ("site.toml", POOL + '[[service]]\nname = "www"\naddress = "203.0.113.10"\nprotocol = "tcp"\n'
                                        'ports = [80]\npool = "web"\n{}\n'),
}
ROWS = [(section, row) for section in SECTIONS for row in TABLES[section][0]]
UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def key_of(row):
    return quoted(row["key"])[0]


def keys_in(section):
    return {key_of(row) for row in TABLES[section][0]}


def label(value):
    return f"{value[0]} {key_of(value[1])}" if isinstance(value, tuple) else None


def document(section, key, line):
    """The section's document with this line, and without what it says of the key by itself."""
    text = SECTIONS[section][1]
    for found in list(re.finditer(rf'\b{key} = (\[.*?\]|"[^"]*")(, |\n)', text))[-1:]:
        text = text[:found.start()] + text[found.end():]
    return text.format(line)


@pytest.fixture
def check(run, tmp_path):
    """check(section, "mtu", "1500"): what `guideway check` says to a document with this key in this section."""
    def check(section, key, value=None):
        file = tmp_path / SECTIONS[section][0]
        line = f"{key} = {value}" + (", port = 80" if key == "type" else "") if value else ""
        file.write_text(document(section, key, line))
        return run("guideway", "check", file)
    return check


def must_be_given(section):
    return [key_of(row) for row in TABLES[section][0] if row["default"] == "must be given"]


# --- Keys ---

@pytest.mark.parametrize("section", SECTIONS)
def test_the_reader_knows_the_keys_that_are_documented_and_no_other(check, section):
    said = check(section, "zzzzzzzz", "1")
    known = re.search(r"has no key \"zzzzzzzz\"; known keys: (.*)", said.stderr)
    assert known, said.stderr
    assert set(known.group(1).split(", ")) == keys_in(section)


def test_the_director_s_file_has_two_sections(run, tmp_path):
    (tmp_path / "director.toml").write_text("zzzzzzzz = 1\n[director]\n" + PORT)
    assert "known keys: director, port" in run("guideway", "check", tmp_path / "director.toml").stderr


def test_the_agent_s_reader_knows_the_keys_that_are_documented_and_no_other(run, tmp_path):
    (tmp_path / "agent.toml").write_text("zzzzzzzz = 1\n")
    said = run("guideway-agent", "attach", "--config", tmp_path / "agent.toml").stderr
    known = re.search(r"there is no key \"zzzzzzzz\"; known keys: (.*)", said)
    assert known, said
    assert set(known.group(1).split(", ")) == keys_in("the agent")


@pytest.mark.parametrize("section", [section for section in SECTIONS if must_be_given(section)])
def test_what_must_be_given_is_missed(check, section):
    for key in must_be_given(section):
        said = check(section, key)
        assert said.returncode == 1 and key in said.stderr, f"without {key}: {said.stdout}{said.stderr}"


# --- Defaults ---

SITE_ROWS = [(section, row) for section, row in ROWS if SECTIONS[section][0] == "site.toml"]
SITE_DEFAULTS = [(section, row) for section, row in SITE_ROWS
                 if row["default"].startswith("`") and key_of(row) != "hash_seed"]


@pytest.mark.parametrize("section,row", SITE_DEFAULTS, ids=[label(value) for value in SITE_DEFAULTS])
def test_a_default_of_the_site_is_what_is_not_printed(run, tmp_path, section, row):
    """A site is printed without the values that are the default."""
    key, default = key_of(row), quoted(row["default"])[0]
    (tmp_path / "site.toml").write_text(document(section, key, f"{key} = {default}"))
    said = run("guideway", "site", "export", "--site", tmp_path / "site.toml")
    assert said.returncode == 0, said.stderr
    assert not re.search(rf"\b{key} = {re.escape(default)}", said.stdout), said.stdout


DIRECTOR_DEFAULTS = [(section, row) for section, row in ROWS
                     if SECTIONS[section][0] == "director.toml" and row["default"].startswith("`")]


@pytest.mark.parametrize("section,row", DIRECTOR_DEFAULTS, ids=[label(value) for value in DIRECTOR_DEFAULTS])
def test_a_default_of_the_director_is_that_of_its_struct(section, row):
    """The fields of DirectorConfig and PortConfig have the keys' names."""
    key, default = key_of(row), quoted(row["default"])[0]
    header = re.sub("//.*", "", read("src/state/director_config.h"))
    found = re.search(rf"\b{key}(?: = ([^;,]+)|{{(.*?)}})[;,]", header)
    assert found, f"no initial value of {key}"
    initial = found.group(1) or f"[{found.group(2)}]"
    if shift := re.fullmatch(r"1U << (\d+)", initial):
        initial = str(1 << int(shift.group(1)))
    assert initial.removeprefix("Polling::") == (default.strip('"') if "::" in initial else default)


# --- Ranges ---

def number_range(row):
    """("100ms", "168h") of "`100ms` to `168h`"; None where the range is no such thing."""
    found = re.fullmatch(r"(?:a prime, )?`([\d.]+(?:ms|s|m|h)?)` to `([\d.]+(?:ms|s|m|h)?)`", row["range"])
    return found.groups() if found else None


def literals(text):
    """The value itself, and those just below and just above it, as TOML."""
    if found := re.fullmatch(r"(\d+)(ms|s|m|h)", text):
        ms = int(found.group(1)) * UNITS_MS[found.group(2)]
        return f'"{ms}ms"', f'"{ms - 1}ms"', f'"{ms + 1}ms"'
    if "." in text:
        return text, f"{float(text) - 0.01}", f"{float(text) + 0.01}"
    return text, str(int(text) - 1), str(int(text) + 1)


RANGES = [(section, row) for section, row in ROWS if number_range(row) and row["value"] != "list of integers"]


@pytest.mark.parametrize("section,row", RANGES, ids=[label(value) for value in RANGES])
def test_a_range_is_the_reader_s(check, section, row):
    key = key_of(row)
    low, high = number_range(row)
    (least, below, _), (most, _, above) = literals(low), literals(high)
    for value, good in ((least, True), (most, True), (below, False), (above, False)):
        said = check(section, key, value)
        assert (said.returncode == 0) == good, f"{key} = {value}: {said.stdout}{said.stderr}"


WORDS = [(section, row) for section, row in ROWS if row["value"] == "word"]


@pytest.mark.parametrize("section,row", WORDS, ids=[label(value) for value in WORDS])
def test_words_are_the_reader_s(check, section, row):
    key = key_of(row)
    for word in quoted(row["range"]):
        said = check(section, key, f'"{word}"')
        assert said.returncode == 0, said.stderr
    said = check(section, key, '"zzzzzzzz"')
    assert said.returncode == 1
    advised = re.search(r"; use (.*)", said.stderr).group(1)
    named = {word for word in re.split(r", | or ", advised)}
    more = {word for word in named - set(quoted(row["range"])) if check(section, key, f'"{word}"').returncode == 0}
    assert not more, f"{key} takes {more} as well"


# --- Examples ---

def test_the_reference_blocks_show_every_key():
    blocks = dict(code_blocks(TEXT))
    files = {"toml director": ["[director]", "[[port]]"], "toml agent": ["the agent"],
             "toml site": [section for section in SECTIONS if SECTIONS[section][0] == "site.toml"]}
    for block, sections in files.items():
        keys = set.union(*(keys_in(section) for section in sections)) - {"pool", "service", "backend", "health"}
        missing = {key for key in keys if not re.search(rf"(^|[ {{]){key} = ", blocks[block], re.M)}
        assert not missing, f"{block}: {missing}"


def examples():
    for words, code in code_blocks(TEXT):
        if words.startswith("toml "):
            yield f"docs/configuration.md, {words}", words.split()[1], code
    for words, code in code_blocks(read("README.md")):
        if words == "toml" and "[director]" in code:
            yield "README.md, director.toml", "director", code
        elif words == "toml" and "[[pool]]" in code:
            yield "README.md, site.toml", "site", code
    for path in sorted((ROOT / "deploy/examples").glob("*.toml")):
        yield str(path.relative_to(ROOT)), path.stem, path.read_text()


EXAMPLES = list(examples())


@pytest.mark.parametrize("kind,text", [(kind, text) for _, kind, text in EXAMPLES], ids=[name for name, *_ in EXAMPLES])
def test_an_example_is_good(run, tmp_path, kind, text):
    file = tmp_path / f"{kind}.toml"
    file.write_text(text)
    if kind == "agent":
        # The file is read before anything else is looked at; "lo" is on every host and never attached to here.
        said = run("guideway-agent", "detach", "lo", "--config", file)
        assert str(file) not in said.stderr, said.stderr
        return
    said = run("guideway", "check", file)
    assert said.returncode == 0 and "warning" not in said.stdout, said.stdout + said.stderr
    director = file if kind == "director" else tmp_path / "plain.toml"
    if kind == "site":
        director.write_text('[director]\nsource_ipv4 = "10.0.0.2"\nsource_ipv6 = "fd00::2"\n' + PORT)
        said = run("guideway", "check", file, "--director", director)
        assert said.returncode == 0, said.stderr
    said = run("guidewayd", "--check", "--director", director, *(["--site", file] if kind == "site" else []))
    assert said.returncode == 0, said.stdout + said.stderr


def test_every_kind_of_file_has_an_example():
    assert {kind for name, kind, _ in EXAMPLES if name.startswith("deploy")} == {"director", "site", "agent"}
    assert {kind for name, kind, _ in EXAMPLES if name.startswith("docs")} == {"director", "site", "agent"}

