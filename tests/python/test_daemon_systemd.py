# SPDX-License-Identifier: MIT
"""timebased under systemd: journal, readiness, watchdog, and what its unit allows."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from daemons import PATIENCE_S, PROGRAM, ROOT, Page, eventually, needs_program

pytestmark = needs_program


def test_levels_are_for_the_journal_alone(tmp_path):
    with (tmp_path / "log").open("w+b") as journal:
        about = os.fstat(journal.fileno())
        for stream in (f"{about.st_dev}:{about.st_ino}", "1:1", ""):
            subprocess.run(
                [str(PROGRAM), "--bad"],
                env={**os.environ, "JOURNAL_STREAM": stream},
                stderr=journal,
                check=False,
            )
        journal.seek(0)
        first, second, third = journal.read().decode().splitlines()
    assert first.startswith("<3>--bad is no option")
    assert second.startswith("timebased: error: --bad") and third == second


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    """A socket as systemd's, and its name for the daemon."""
    name = str(tmp_path / "notify") if request.param == "path" else f"@timebased-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind("\0" + name[1:] if name.startswith("@") else name)
        yield listener, name


def hold(daemon):
    daemon.send(signal.SIGSTOP)
    eventually(
        lambda: Path(f"/proc/{daemon.process.pid}/stat").read_text().split(") ")[1][0] == "T",
        "a stop",
    )


def discard(listener):
    """What is in its queue; from then on it does not wait for more."""
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        while True:
            listener.recv(1000)


def test_tells_systemd_when_it_is_ready_and_that_it_lives(start, manager):
    listener, name = manager
    daemon = start(environment={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "400000"})
    first = "WATCHDOG=1\n"
    while first == "WATCHDOG=1\n":  # it lives, but was held up before it had lines
        first = listener.recv(1000).decode()
    assert first.startswith("READY=1\nSTATUS=")
    assert Page.read(daemon.page), "ready before there is a page"
    heard = [listener.recv(1000).decode() for _ in range(6)]
    assert heard.count("WATCHDOG=1\n") >= 3
    # The queue holds ten: had this test been held up, the last word might find no room.
    hold(daemon)
    discard(listener)
    daemon.send(signal.SIGTERM)
    daemon.send(signal.SIGCONT)
    listener.setblocking(True)
    while not listener.recv(1000).startswith(b"STOPPING=1"):
        pass
    assert daemon.end() == 0


def test_a_hanging_daemon_does_not_tell_the_watchdog(start, manager):
    listener, name = manager
    daemon = start(environment={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "400000"})
    daemon.wait_for_page()
    hold(daemon)
    discard(listener)
    time.sleep(1)
    with pytest.raises(BlockingIOError):
        listener.recv(1000)


def allowed_calls():
    """What the unit's filter lets through, as systemd works it out: lines in order."""

    def expand(name):
        done = subprocess.run(
            ["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True
        )
        lines = [line.split("#")[0].strip() for line in done.stdout.splitlines()[1:]]
        for line in filter(None, lines):
            yield from expand(line) if line.startswith("@") else [line]

    allowed = set()
    for line in (ROOT / "daemon" / "timebased.service.in").read_text().splitlines():
        if not line.startswith("SystemCallFilter="):
            continue
        value = line.split("=", 1)[1]
        names = value.lstrip("~").split()
        calls = {c for n in names for c in (expand(n) if n.startswith("@") else [n])}
        allowed = allowed - calls if value.startswith("~") else allowed | calls
    return allowed


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_the_unit_allows_every_call_that_is_made(start, tmp_path):
    """Reading adjtimex among them, which ProtectClock= would deny."""
    trace = tmp_path / "trace"
    daemon = start("--reference=kernel", prefix=["strace", "-f", "-o", str(trace)])
    eventually(daemon.page.exists, "a page")
    traced = int(daemon.page.with_name("page.lock").read_text().split()[0])
    try:
        daemon.wait_for_page(beyond=6)
    finally:
        os.kill(traced, signal.SIGTERM)
    daemon.process.wait(PATIENCE_S)
    # After execve, which systemd does before the filter is on.
    made = set(re.findall(r"^\d+ +([a-z_0-9]+)\(", trace.read_text(), re.MULTILINE)) - {"execve"}
    if not {"pwrite64", "ppoll"} <= made:
        pytest.skip("strace sees nothing here")
    allowed = allowed_calls()
    assert made <= allowed, made - allowed
    assert made & {"adjtimex", "clock_adjtime", "clock_adjtime64"} <= allowed
    assert "clock_settime" not in allowed and "settimeofday" not in allowed


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
def test_the_unit_is_hardened_as_far_as_it_goes(tmp_path):
    unit = tmp_path / "timebased.service"
    text = (ROOT / "daemon" / "timebased.service.in").read_text()
    unit.write_text(text.replace("@SBINDIR@/timebased", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=25", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "Unknown" in done.stderr or "unrecognized" in done.stderr:
        pytest.skip("this systemd-analyze cannot look at files")
    assert done.returncode == 0, done.stdout[-300:] + done.stderr
