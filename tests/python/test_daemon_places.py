# SPDX-License-Identifier: MIT
"""Where timebased keeps its page, as whom, and what it says where it cannot."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from daemons import PROGRAM, Daemon, needs_program, run

pytestmark = needs_program


@pytest.fixture
def public_folder():
    """A folder that any user can enter; pytest's own are private."""
    with tempfile.TemporaryDirectory(prefix="timebased-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def test_names_a_missing_folder(tmp_path):
    done = run(f"--page={tmp_path}/a/b/page", "--config=/dev/null")
    assert done.returncode == 1
    assert f"cannot make the folder {tmp_path}/a/b: No such file or directory" in done.stderr
    assert "make the folder that holds it" in done.stderr


def in_namespace(script, *arguments):
    """A shell script as root of a user and mount namespace of its own; skipped if refused."""
    probe = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("unshare -rm is refused here")
    return subprocess.run(
        ["unshare", "-rm", "sh", "-ec", script, "sh", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_names_a_read_only_file_system(tmp_path):
    (tmp_path / "ro").mkdir()
    done = in_namespace(
        'mount -t tmpfs -o ro tmpfs "$1" && exec "$2" --page="$1/page" --config=/dev/null',
        str(tmp_path / "ro"),
        str(PROGRAM),
    )
    assert done.returncode == 1, done.stderr
    assert "Read-only file system: mount a writable file system there" in done.stderr


# $1: an empty folder, $2: the daemon. Full when the page is gone: the daemon keeps the file, and its
# block, until another stands in its place. Then there is room again.
FILL_AND_EMPTY = r"""
mount -t tmpfs -o size=16k tmpfs "$1"
"$2" --page="$1/page" --config=/dev/null --metrics=none 2>"$1.log" &
daemon=$!
lives() { grep -q "^State:.[^XZ]" "/proc/$daemon/status"; }
patiently() { until "$@"; do lives || exit 9; sleep 0.1; done; }
fill() { dd if=/dev/zero of="$1" bs=4k 2>/dev/null || true; }
patiently test -s "$1/page"
fill "$1/ballast"
rm "$1/page"
fill "$1/more"
patiently grep -q "trying again" "$1.log"
sleep 0.5
rm "$1/ballast" "$1/more"
patiently test -s "$1/page"
patiently grep -q "written again" "$1.log"
kill $daemon
wait $daemon
"""


def test_goes_on_trying_on_a_full_file_system(tmp_path):
    """No room for a page: said once, tried again, made when there is room."""
    (tmp_path / "small").mkdir()
    done = in_namespace(FILL_AND_EMPTY, str(tmp_path / "small"), str(PROGRAM))
    log = (tmp_path / "small.log").read_text()
    assert done.returncode == 0, (done, log)
    assert log.count("No space left on device: the file system is full: free some space") == 1, log


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_runs_without_any_rights(public_folder):
    (public_folder / "run").mkdir()
    os.chown(public_folder / "run", 65534, 65534)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    daemon = Daemon(public_folder, prefix=nobody)
    try:
        daemon.wait_for_page(beyond=1)
        assert daemon.page.stat().st_uid == 65534
    finally:
        daemon.end()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_becomes_the_user_it_is_told(public_folder):
    daemon = Daemon(public_folder, "--user=nobody")
    try:
        daemon.wait_for_page(beyond=1)
        status = Path(f"/proc/{daemon.process.pid}/status").read_text()
        assert "CapEff:\t0000000000000000" in status
        assert daemon.page.stat().st_uid == daemon.page.parent.stat().st_uid != 0
    finally:
        daemon.end()


def test_names_a_user_that_does_not_exist(tmp_path):
    done = run(f"--page={tmp_path}/run/page", "--config=/dev/null", "--user=no-such-user")
    assert done.returncode == 1
    assert "there is no user no-such-user" in done.stderr


def test_an_unprivileged_user_is_told_what_is_refused():
    arguments = ["--page=/run/timebase-of-nobody/page", "--config=/dev/null"]
    if os.geteuid() != 0:
        done = run(*arguments)
    else:
        # Root is refused nothing, and may live in a folder that nobody else can look into.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(PROGRAM, folder)
            done = subprocess.run(
                [
                    "setpriv",
                    "--reuid=65534",
                    "--regid=65534",
                    "--clear-groups",
                    program,
                    *arguments,
                ],
                capture_output=True,
                text=True,
                check=False,
            )
    assert done.returncode == 1
    assert "Permission denied: give the folder to the user" in done.stderr
