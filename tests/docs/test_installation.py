"""What `meson install` puts where: programs that units name, pages that are referred to, files to begin with."""
import re
import shutil
import subprocess

import pytest

from documents import ROOT, read

REFERENCE = re.compile(r"\b(guideway[a-z-]*)\((\d)\)")


@pytest.fixture(scope="module")
def installed(build, tmp_path_factory):
    """The root of an installation of this build, as it is: what is not built yet is built by nobody here."""
    if shutil.which("meson") is None:
        pytest.skip("meson is not installed")
    root = tmp_path_factory.mktemp("root")
    said = subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", root],
                          capture_output=True, text=True)
    if "could not be found" in said.stdout + said.stderr:
        pytest.skip(f"not all of {build} is built")
    assert said.returncode == 0, said.stdout + said.stderr
    return root


def files(root, pattern):
    return sorted(path for path in root.rglob(pattern) if path.is_file())


def one(root, name):
    found = files(root, name)
    assert len(found) == 1, f"{name}: {found}"
    return found[0]


def test_units_name_programs_that_are_there(installed):
    units = files(installed, "*.service")
    assert [unit.name for unit in units] == ["guideway-agent@.service", "guidewayd.service"]
    for unit in units:
        text = unit.read_text()
        assert not re.search(r"@\w+@", text.replace("agent@.", "")), f"{unit.name}: a path was not filled in"
        commands = re.findall(r"^Exec\w+=(\S+)", text, re.M)
        assert commands
        for command in commands:
            assert (installed / command.lstrip("/")).exists(), f"{unit.name}: {command}"


def test_units_lie_where_systemd_looks(installed):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed (systemd)")
    paths = subprocess.run(["systemd-analyze", "unit-paths"], capture_output=True, text=True).stdout.split()
    folder = "/" + str(one(installed, "guidewayd.service").parent.relative_to(installed))
    if not folder.startswith(("/usr/lib/", "/usr/local/lib/")):
        pytest.skip(f"the prefix is not one that systemd knows: {folder}")
    assert folder in paths


def test_systemd_has_nothing_to_say(installed):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed (systemd)")
    agent = one(installed, "guideway-agent@.service")
    instance = agent.with_name("guideway-agent@eth0.service")
    shutil.copy(agent, instance)
    for unit in (one(installed, "guidewayd.service"), instance):
        # The pages lie in the installation, not on this host; what else the unit needs is systemd's own.
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={installed}", unit],
                              capture_output=True, text=True)
        assert said.returncode == 0 and unit.name not in said.stderr, said.stderr
    instance.unlink()


def test_every_page_that_is_referred_to_is_installed(installed):
    pages = {f"{path.stem}({path.suffix[1:]})" for path in (installed).rglob("man/man*/*") if path.is_file()}
    assert {"guideway(1)", "guideway-replay(1)", "guidewayd(8)", "guideway-agent(8)"} <= pages
    texts = [path.read_text() for path in installed.rglob("man/man*/*")] + [path.read_text() for path in files(installed, "*.service")]
    texts += [path.read_text() for path in files(installed, "*.md")] + [read("README.md")]
    referred = {f"{name}({section})" for text in texts for name, section in REFERENCE.findall(text.replace("\\-", "-"))}
    assert referred <= pages, referred - pages


def test_files_that_are_named_are_installed(installed):
    """Paths of documents and of examples in the man pages."""
    named = set()
    for path in installed.rglob("man/man*/*"):
        named |= set(re.findall(r"(/\S+/(?:configuration|api|replay)\.md|/\S+\.example)\b", path.read_text()))
    assert len(named) >= 3
    for name in named:
        assert list(installed.glob(name.lstrip("/"))), name


def test_the_examples_are_good(installed, run):
    folder = one(installed, "director.toml.example").parent
    assert {path.name for path in folder.iterdir()} == {f"{name}.toml.example" for name in ("director", "site", "agent")}
    said = run("guidewayd", "--check", "--director", folder / "director.toml.example", "--site", folder / "site.toml.example")
    assert said.returncode == 0 and "warn" not in said.stdout, said.stdout + said.stderr


def test_the_group_of_the_socket_is_made(installed):
    name = re.search(r'group_name = "(\w+)"', (ROOT / "src/control/api_peer.cpp").read_text()).group(1)
    file = one(installed, "guideway.conf")
    assert file.parent.name == "sysusers.d"
    assert re.search(rf"^g {name} -$", file.read_text(), re.M)
