# SPDX-License-Identifier: MIT
"""The RPM packages, as scripts/rpm builds them here: rpmbuild finds all that is installed in one of
them; what they need, and who may change what, is as in the Debian packages."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "python3-timebase",
    "timebase",
    "timebase-devel",
    "timebase-libs",
    "timebase-preload",
    "timebased",
)

pytestmark = pytest.mark.skipif(not shutil.which("rpmbuild"), reason="no rpmbuild: make packages")


@pytest.fixture(scope="module")
def packages():
    """Of what is committed, by name."""
    done = subprocess.run([ROOT / "scripts/rpm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    paths = map(Path, done.stdout.split())
    return {re.split(r"-\d", path.name)[0]: path for path in paths}


def asked(path, *what):
    command = ["rpm", "-qp", *what, path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_version_is_that_of_the_headers():
    header = (ROOT / "include/timebase/version.h").read_text()
    spec = (ROOT / "packaging/rpm/timebase.spec").read_text()
    version = re.search(r'^#define TIMEBASE_VERSION "(.*)"', header, re.MULTILINE)[1]
    assert re.search(r"^Version: +(.*)$", spec, re.MULTILINE)[1] == version


def test_there_are_as_many_as_of_debian(packages):
    assert sorted(packages) == sorted(NAMES)


def test_what_the_administrator_writes_is_kept(packages):
    assert asked(packages["timebased"], "--configfiles") == ["/etc/timebase/timebased.conf"]
    flags = asked(packages["timebased"], "--queryformat", "[%{FILENAMES} %{FILEFLAGS:fflags}\n]")
    assert "/etc/timebase/timebased.conf cn" in flags  # config, noreplace


@pytest.mark.parametrize("name", ["timebased", "timebase-libs", "timebase-preload"])
def test_what_is_of_c_needs_the_c_library_alone(packages, name):
    needs = {line.split("(")[0].split(" ")[0] for line in asked(packages[name], "--requires")}
    assert needs <= {"libc.so.6", "libm.so.6", "rtld", "rpmlib", "/bin/sh", "config"}


def test_what_python_loads_is_nobody_elses(packages):
    told = asked(packages["python3-timebase"], "--provides", "--requires")
    assert not [line for line in told if line.startswith("libtimebase")]
    assert not [line for line in told if line.startswith("timebase_fast")]


def test_they_unpack_beside_each_other_and_the_daemon_runs(packages, tmp_path):
    for path in packages.values():
        archive = subprocess.run(["rpm2cpio", path], capture_output=True, check=True).stdout
        subprocess.run(["cpio", "-id", "--quiet"], input=archive, cwd=tmp_path, check=True)
    check = [tmp_path / "usr/sbin/timebased", "--config=/dev/null", "--check"]
    assert subprocess.run(check, capture_output=True, check=False).returncode == 0
    assert (tmp_path / "usr/bin/timebase").read_text().startswith("#!/usr/bin/python3")
