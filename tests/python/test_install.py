# SPDX-License-Identifier: MIT
"""`meson install`, and what was installed is run: two prefixes, a package's root, other builds."""

import json
import os
import shutil
import subprocess
import sysconfig
from importlib.metadata import files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Debian's own, as in scripts/build: cffi and headers belong to it.
PATH = f"/usr/bin:/bin:{os.environ['PATH']}"
PLAIN = {key: value for key, value in os.environ.items() if key != "DESTDIR"} | {"PATH": PATH}
HAS_CFFI = subprocess.run(["/usr/bin/python3", "-c", "import cffi"], check=False).returncode == 0

PROGRAM = """
#include <stdio.h>
#include <timebase.h>
int main(void)
{
    struct timebase_interval now;
    timebase_utc_interval(timebase_clock_default(), &now);
    return now.earliest_ns <= now.latest_ns ? 0 : 1;
}
"""


def run(*command, **environment):
    return subprocess.run(
        [str(word) for word in command],
        env=PLAIN | {name: str(value) for name, value in environment.items()},
        capture_output=True,
        text=True,
        check=False,
    )


def must(*command, cwd=None, **environment):
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=PLAIN | {name: str(value) for name, value in environment.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build folder, for any prefix. How quick the code is that is installed does not matter."""
    folder = tmp_path_factory.mktemp("build")
    options = ["-Dtests=false", "-Dexamples=false", "-Doptimization=0", f"--prefix={folder}/none"]
    must("meson", "setup", *options, folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    """Installed below a prefix of its own."""
    folder = tmp_path_factory.mktemp("prefix")
    must("meson", "configure", build, f"-Dprefix={folder}")
    must("meson", "install", "-C", build)
    return folder


@pytest.fixture(scope="module")
def libdir(prefix):
    return next(prefix.glob("lib/**/libtimebase.so")).parent


@pytest.mark.slow
@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="a matter of Debian's")
@pytest.mark.parametrize("libdir, warned", [("lib64", True), ("lib", False)])
def test_a_folder_where_debian_does_not_look_is_told(tmp_path, libdir, warned):
    options = ["-Dtests=false", "-Dexamples=false", f"-Dlibdir={libdir}"]
    told = must("meson", "setup", *options, tmp_path, ROOT)
    assert ("or say -Dlibdir=lib." in told) == warned


# ---- the daemon


@pytest.mark.slow
def test_the_daemon_reads_the_configuration_that_was_installed_with_it(prefix):
    config = prefix / "etc/timebase/timebased.conf"
    done = run(prefix / "sbin/timebased", "--check")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"# read: {config}")
    assert "drift = 50ppm  # default" in done.stdout
    config.write_text("drift = 20\n")
    assert "drift = 20ppm  # file" in run(prefix / "sbin/timebased", "--check").stdout


@pytest.mark.slow
def test_installing_again_keeps_what_the_administrator_wrote(build, prefix):
    config = prefix / "etc/timebase/timebased.conf"
    config.write_text("drift = 30\n")
    must("meson", "install", "-C", build)
    assert config.read_text() == "drift = 30\n"


@pytest.mark.slow
def test_without_its_configuration_the_daemon_says_so(prefix):
    config = prefix / "etc/timebase/timebased.conf"
    kept = config.read_text()
    config.unlink()
    done = run(prefix / "sbin/timebased", "--check")
    config.write_text(kept)
    assert done.returncode == 0
    assert done.stdout.startswith(f"# not read, for there is no such file: {config}\n")


@pytest.mark.slow
def test_the_unit_starts_the_daemon_that_was_installed_with_it(prefix):
    unit = (prefix / "lib/systemd/system/timebased.service").read_text()
    assert f"ExecStart={prefix}/sbin/timebased\n" in unit


@pytest.mark.slow
def test_systemd_takes_the_unit_and_finds_it_confined(prefix):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here")
    unit = prefix / "lib/systemd/system/timebased.service"
    assert must("systemd-analyze", "verify", "--man=no", unit) == ""
    # Tenths: 2.0 of 10.
    must("systemd-analyze", "security", "--offline=true", "--threshold=20", unit)


@pytest.mark.slow
def test_daemon_and_command_work_together(prefix, others, tmp_path):
    if not HAS_CFFI:
        pytest.skip("the system's Python has no cffi (python3-cffi): no command was built")
    page = tmp_path / "timebase/page"
    daemon = subprocess.Popen(
        [prefix / "sbin/timebased", f"--page={page}"], stderr=subprocess.PIPE, text=True
    )
    try:
        while " made" not in daemon.stderr.readline():
            assert daemon.poll() is None
        done = command(prefix, others, "status", f"--page={page}", "--json")
        document = json.loads(done.stdout)
        assert document["page_path"] == str(page) and document["page"] is not None
        assert done.returncode == document["exit_code"]
    finally:
        daemon.kill()
        daemon.communicate()


# ---- the command


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """What the command needs of others: the modules of this venv, without ours."""
    folder = tmp_path_factory.mktemp("others")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.lstrip(".").startswith("timebase"):
            (folder / path.name).symlink_to(path)
    return folder


def command(prefix, others, *arguments, **environment):
    return run(prefix / "bin/timebase", *arguments, PYTHONPATH=others, **environment)


@pytest.mark.slow
def test_the_command_runs_the_modules_that_were_installed_with_it(prefix, libdir, others):
    if not HAS_CFFI:
        pytest.skip("the system's Python has no cffi (python3-cffi): no command was built")
    done = command(prefix, others, "--version", PYTHONVERBOSE="1")
    assert done.returncode == 0 and done.stdout.startswith("timebase 0.")
    assert str(libdir / "timebase/python/timebase/cli/__init__.py") in done.stderr
    assert json.loads(command(prefix, others, "now", "--json").stdout)["ticks"] > 0


@pytest.mark.slow
def test_exec_finds_the_library_that_was_installed_with_it(prefix, libdir, others):
    library = libdir / "timebase/libtimebase-preload.so"
    assert library.is_file()
    if not HAS_CFFI:
        pytest.skip("the system's Python has no cffi (python3-cffi): no command was built")
    if os.uname().machine != "x86_64":
        pytest.skip("other processors' kernels do not give their counters up")
    done = command(prefix, others, "exec", "--always", "--", "sh", "-c", "echo $LD_PRELOAD")
    assert done.stdout.strip().split(":")[-1] == str(library)


@pytest.mark.slow
def test_what_was_installed_can_be_taken_away_but_for_the_configuration(build, prefix, tmp_path):
    must("meson", "install", "-C", build, DESTDIR=tmp_path)
    assert len(list(tmp_path.rglob("*"))) > 200
    must("ninja", "-C", build, "uninstall", DESTDIR=tmp_path)
    left = [path for path in tmp_path.rglob("*") if not path.is_dir()]
    assert left == [Path(f"{tmp_path}{prefix}/etc/timebase/timebased.conf")]


# ---- away again, and below /usr


@pytest.mark.slow
def test_below_usr_all_is_where_systems_have_it(build, prefix, others, tmp_path):
    must(
        "meson", "configure", build, "-Dprefix=/usr", "-Dpython_dir=/usr/lib/python3/dist-packages"
    )
    try:
        must("meson", "install", "-C", build, DESTDIR=tmp_path)
    finally:
        # Of itself Meson would leave /etc as it was for /usr.
        own = ["-Dsysconfdir=etc", "-Dpython_dir="]
        must("meson", "configure", build, f"-Dprefix={prefix}", *own)
        must("ninja", "-C", build, "build.ninja")
    for path in (
        "etc/timebase/timebased.conf",
        "usr/lib/systemd/system/timebased.service",
        "usr/lib/sysusers.d/timebase.conf",
        "usr/share/man/man3/timebase_utc_ns.3",
        "usr/share/man/man5/timebased.conf.5",
        "usr/share/man/man8/timebased.8",
    ):
        assert (tmp_path / path).is_file(), path
    told = run(tmp_path / "usr/sbin/timebased", "--help").stdout
    assert "configuration; /etc/timebase/timebased.conf, if" in told
    if HAS_CFFI:
        modules = tmp_path / "usr/lib/python3/dist-packages"
        assert (tmp_path / "usr/share/man/man1/timebase.1").is_file()
        assert (tmp_path / "usr/share/bash-completion/completions/timebase").is_file()
        assert (modules / "timebase/_libs/libtimebase_python.so").is_file()
        environment = {"PYTHONPATH": f"{modules}:{others}"}
        done = run(tmp_path / "usr/bin/timebase", "--version", **environment)
        assert done.stdout.startswith("timebase 0."), done.stderr


@pytest.mark.slow
def test_the_configuration_is_below_any_sysconfdir(build, prefix, tmp_path):
    must("meson", "configure", build, "-Dsysconfdir=/srv/etc")
    try:
        must("meson", "install", "-C", build, DESTDIR=tmp_path)
    finally:
        must("meson", "configure", build, "-Dsysconfdir=etc")
        must("ninja", "-C", build, "build.ninja")
    assert (tmp_path / "srv/etc/timebase/timebased.conf").is_file()
    daemon = f"{tmp_path}{prefix}/sbin/timebased"
    assert "configuration; /srv/etc/timebase/timebased.conf, if" in must(daemon, "--help")


# ---- who uses the library


@pytest.mark.slow
def test_pkg_config_finds_the_library(prefix, libdir, tmp_path):
    (tmp_path / "p.c").write_text(PROGRAM)
    told = must(
        "pkg-config", "--cflags", "--libs", "timebase", PKG_CONFIG_PATH=libdir / "pkgconfig"
    )
    must("cc", tmp_path / "p.c", "-o", tmp_path / "p", *told.split())
    must(tmp_path / "p", LD_LIBRARY_PATH=libdir)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["timebase", "static"])
def test_cmake_finds_the_library_for_a_project_of_c_alone(prefix, libdir, tmp_path, target):
    if shutil.which("cmake") is None:
        pytest.skip("no cmake here")
    (tmp_path / "p.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p C)\n"
        "find_package(timebase 0.1 REQUIRED)\nadd_executable(p p.c)\n"
        f"target_link_libraries(p timebase::{target})\n"
    )
    must("cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}")
    must("cmake", "--build", tmp_path / "b")
    must(tmp_path / "b/p")


@pytest.mark.slow
def test_a_meson_project_that_has_it_as_a_subproject_asks_for_it_by_name(tmp_path):
    (tmp_path / "subprojects").mkdir()
    (tmp_path / "subprojects/timebase").symlink_to(ROOT)
    (tmp_path / "p.c").write_text(PROGRAM)
    (tmp_path / "meson.build").write_text(
        "project('p', 'c')\nsubproject('timebase')\n"
        "test('p', executable('p', 'p.c', dependencies: dependency('timebase')))\n"
    )
    must("meson", "setup", tmp_path / "b", tmp_path)
    must("ninja", "-C", tmp_path / "b", "p")
    must(tmp_path / "b/p")


# ---- after an installation by root


def called_after(tmp_path, prefix, present, user=0, **environment):
    """What packaging/after-install calls, with stand-ins for the commands that are present."""
    stand_ins = {name: f'echo "called: {name} $*"' for name in present}
    for name, what in {**stand_ins, "getent": "exit 2", "id": f"echo {user}"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{what}\n")
        (tmp_path / name).chmod(0o755)
    script = ROOT / "packaging/after-install"
    return must("/bin/sh", script, prefix, PATH=tmp_path, **environment).splitlines()


PRESENT = ("ldconfig", "systemd-sysusers", "systemctl")


def test_after_an_installation_the_system_is_told(tmp_path):
    assert called_after(tmp_path, "/usr/local", PRESENT, SYSTEMD_RUNNING=tmp_path) == [
        "called: ldconfig ",
        "called: systemd-sysusers /usr/local/lib/sysusers.d/timebase.conf",
        "called: systemctl daemon-reload",
    ]


def test_what_is_missing_is_not_called(tmp_path):
    running = tmp_path / "none"
    called = called_after(tmp_path, "/usr", ("ldconfig",), SYSTEMD_RUNNING=running)
    assert called == ["called: ldconfig "]


def test_nothing_is_told_of_a_package_or_another_prefix_or_by_another_user(tmp_path):
    assert called_after(tmp_path, "/usr", PRESENT, DESTDIR="/somewhere") == []
    assert called_after(tmp_path, "/opt/timebase", PRESENT) == []
    assert called_after(tmp_path, "/usr", PRESENT, user=1000) == []


# ---- what scripts/setup fetches


@pytest.mark.slow
@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="it asks Debian's dpkg")
def test_who_has_no_network_is_told_that_it_is_that(tmp_path):
    """A port that nobody listens at stands for it."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/setup", tmp_path / "scripts")
    (tmp_path / "scripts/packages").write_text("python dpkg # there already\n")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    plain = {name: value for name, value in PLAIN.items() if not name.startswith("PIP_")}
    index = {"PIP_INDEX_URL": "http://127.0.0.1:1/", "PIP_RETRIES": "0"}
    done = subprocess.run(
        [tmp_path / "scripts/setup", "python"],
        env=plain | index,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "is there a network" in done.stdout.splitlines()[-2], done.stdout + done.stderr
    assert not (tmp_path / ".venv/requirements.stamp").exists()


# ---- the wheel


def test_the_wheel_has_its_licence_and_says_that_it_is_typed():
    names = [str(path) for path in files("timebase")]
    assert "timebase/py.typed" in names
    (licence,) = [name for name in names if name.endswith("LICENSE")]
    assert ".dist-info/" in licence
