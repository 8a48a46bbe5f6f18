# SPDX-License-Identifier: MIT
"""The Debian packages of build/deb in a fresh minimal system: installed, run, upgraded, purged.

`make packages` builds them first. What they depend on is in the system before, but for the first test.
The others are one story, told in order.
"""

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from fresh_system import ROOT, pytestmark, unpack  # noqa: F401

BUILT = ROOT / "build/deb"
NAMES = (
    "libtimebase1",
    "libtimebase-dev",
    "libtimebase-preload",
    "timebased",
    "python3-timebase",
    "timebase-tools",
)
# All that ours depend on or recommend, so that what is left in the end is ours alone.
OTHERS = (
    "python3-cffi-backend",
    "python3-jinja2",
    "python3-matplotlib",
    "python3-numpy",
    "python3-prometheus-client",
    "python3-rich",
    "python3-typer",
    "systemd-standalone-sysusers",
)
# What others write who install anything at all.
NOT_OURS = re.compile(
    r"/(var/(log|cache|lib/(dpkg|apt|systemd))|run|tmp|proc|sys|dev|packages)(/|$)"
    r"|/root/\.(cache|config)(/|$)"  # matplotlib's
    r"|/etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$|/etc/ld\.so\.cache$|/etc/\.pwd\.lock$"
)


def files_of(system):
    found = set()
    for folder, folders, files in os.walk(system.folder):
        inside = "/" + os.path.relpath(folder, system.folder).removeprefix(".").lstrip("/")
        for name in (*files, *folders):
            path = os.path.join(inside, name)
            if not NOT_OURS.match(path):
                found.add(path)
    return found


def users_of(system):
    return (system.folder / "etc/passwd").read_text(), (system.folder / "etc/group").read_text()


def test_as_the_tutorial_says(tmp_path, capsys):
    """By its line; what the packages depend on comes through the network."""
    system = unpack("first-reading", ("ca-certificates",), tmp_path, variant="minbase")
    system.reach_the_network()
    system.must("apt-get", "update", "-q")
    packages = tmp_path / "root/build/deb"
    packages.mkdir(parents=True)
    for path in BUILT.glob("*.deb"):
        shutil.copy(path, packages)
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    (install,) = re.findall(r"^    apt-get install (.*)$", text, re.MULTILINE)
    begun_s = time.monotonic()
    system.must("bash", "-c", f"cd /root; apt-get install -q -y {install}")
    assert system.must("timebase", "now").startswith("UTC ")
    with capsys.disabled():
        print(f"\nfrom apt-get install to the first reading: {time.monotonic() - begun_s:.0f} s")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    return unpack("packages", OTHERS, tmp_path_factory.mktemp("system"))


@pytest.fixture(scope="module")
def before(fresh):
    return files_of(fresh), users_of(fresh)


def package_files(folder):
    own = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
    )
    kinds = (own.stdout.strip(), "all")
    return [
        next(path for kind in kinds for path in folder.glob(f"{name}_*_{kind}.deb"))
        for name in NAMES
    ]


@pytest.fixture(scope="module")
def system(fresh, before):
    """With our packages, as a user installs them."""
    folder = fresh.folder / "packages"
    folder.mkdir()
    paths = [shutil.copy(path, folder) for path in package_files(BUILT)]
    inside = [f"/packages/{Path(path).name}" for path in paths]
    fresh.must("apt-get", "install", "-q", "-y", "--no-install-recommends", *inside)
    return fresh


def test_all_is_installed(system):
    for name in NAMES:
        assert system.must("dpkg-query", "-W", "-f", "${db:Status-Status}", name) == "installed"


def test_the_service_has_its_user_and_a_configuration_that_is_good(system):
    assert "timebase:" in users_of(system)[0]
    told = system.must("timebased", "--check")
    assert told.startswith("# read: /etc/timebase/timebased.conf\n")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="of amd64 alone")
def test_a_program_of_32_bits_has_a_library_too(system, tmp_path):
    (path,) = BUILT.glob("libtimebase-preload_*_i386.deb")
    fields = subprocess.run(
        ["dpkg-deb", "-f", path], capture_output=True, text=True, check=True
    ).stdout
    assert "\nMulti-Arch: same\n" in fields and "Depends: libc6 (" in fields
    subprocess.run(["dpkg-deb", "-x", path, system.folder], check=True)
    program = "from timebase.exec.libraries import find; print(find(32), find(64))"
    narrow, own = system.must("python3", "-c", program).split()
    assert narrow == "/usr/lib/i386-linux-gnu/timebase/libtimebase-preload.so"
    assert own == "/usr/lib/x86_64-linux-gnu/timebase/libtimebase-preload.so"
    shutil.rmtree(system.folder / "usr/lib/i386-linux-gnu")  # no package manager knows of it


CALENDAR = '[[unit]]\nname = "a"\nduration = "1ms"\nnone = true\n'


@pytest.mark.parametrize(
    "words, codes",
    [
        ("--version", {0}),
        ("now", {0}),
        ("now --json", {0}),
        ("doctor --json", {0, 1}),  # the machine's matter
        ("status --json", {3}),  # no daemon yet
        ("watch --private --count=1 --json", {0}),
        ("bench --rounds=3 --calls=10 --json", {0}),
        ("accuracy --quick --only=delay --out=/tmp/accuracy --json", {0}),
        ("report --quick --out=/tmp/report.html", {0}),
        ("convert 1", {1}),  # no timeline yet
    ],
)
def test_each_command_runs(system, words, codes):
    done = system.run("timebase", *words.split())
    assert done.returncode in codes, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if "--json" in words:
        json.loads(done.stdout)


def test_run_names_what_the_distribution_lacks(system):
    """pydantic is suggested only, for Debian 12 has none that is new enough."""
    (system.folder / "tmp/calendar.toml").write_text(CALENDAR)
    done = system.run("timebase", "run", "/tmp/calendar.toml", "--check")
    assert done.returncode == 0 or (done.returncode == 1 and "pydantic" in done.stderr)


def test_the_readings_are_the_fast_ones(system):
    code = "import timebase; from timebase.api.reader import is_fast; print(is_fast)"
    assert system.must("/usr/bin/python3", "-c", code) == "True\n"


def test_programs_are_built_with_the_packages(system, tmp_path):
    """By this machine's compiler, with the headers and libraries of that one."""
    source = tmp_path / "p.c"
    source.write_text(
        "#include <timebase.h>\nint main(void)\n"
        "{ return timebase_utc_ns(timebase_clock_default()) > 0 ? 0 : 1; }\n"
    )
    usr = system.folder / "usr"
    libraries = next((usr / "lib").glob("*/libtimebase.so")).parent
    out = system.folder / "tmp/p"
    command = ["cc", f"-I{usr}/include", source, "-o", out, f"-L{libraries}", "-ltimebase"]
    subprocess.run(command, check=True)
    assert "libtimebase.so.1" in system.must("ldd", "/tmp/p")
    system.must("/tmp/p")


def test_the_pages_are_where_man_looks(system):
    for page in (
        "man1/timebase.1",
        "man3/timebase_utc_ns.3",
        "man5/timebased.conf.5",
        "man8/timebased.8",
    ):
        name = f"/usr/share/man/{page}.gz"
        owned = "timebase" in system.run("dpkg", "-S", name).stdout
        assert owned, name


def test_daemon_and_command_meet_at_the_page(system):
    daemon = subprocess.Popen(
        system.command("timebased", "--user=timebase"), stderr=subprocess.PIPE, text=True
    )
    try:
        while " made" not in daemon.stderr.readline():
            assert daemon.poll() is None
        document = json.loads(system.run("timebase", "status", "--json").stdout)
        assert document["page_path"] == "/run/timebase/page" and document["page"] is not None
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.communicate()


def newer(path, folder):
    """The same package, of the next version."""
    tree = folder / path.stem
    subprocess.run(["dpkg-deb", "-R", path, tree], check=True)
    control = tree / "DEBIAN/control"
    version = re.search(r"^Version: (.*)$", control.read_text(), re.MULTILINE)[1]
    text = control.read_text().replace(f"Version: {version}", f"Version: {version}+next")
    control.write_text(text.replace(f"(= {version})", f"(= {version}+next)"))
    out = folder / f"{path.stem}+next.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-b", tree, out], check=True, capture_output=True
    )
    return out


def test_an_upgrade_keeps_what_the_administrator_wrote(system, tmp_path):
    config = system.folder / "etc/timebase/timebased.conf"
    config.write_text("drift = 20\n")
    for path in package_files(BUILT):
        shutil.copy(newer(path, tmp_path), system.folder / "packages")
    inside = [f"/packages/{path.name}" for path in (system.folder / "packages").glob("*+next.deb")]
    system.must("apt-get", "install", "-q", "-y", "--no-install-recommends", *inside)
    assert system.must("dpkg-query", "-W", "-f", "${Version}", "timebased").endswith("+next")
    assert config.read_text() == "drift = 20\n"
    system.must("timebase", "now")


def test_nothing_is_left_after_a_purge(system, before):
    history = system.folder / "var/lib/timebase/timeline"
    history.mkdir(parents=True)
    system.must("apt-get", "purge", "-q", "-y", *NAMES)
    files, users = before
    assert sorted(files_of(system) - files) == []
    assert sorted(files - files_of(system)) == []
    assert users_of(system) == users
    assert not (system.folder / "run/timebase").exists()
