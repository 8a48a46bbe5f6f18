# SPDX-License-Identifier: MIT
"""Runs a test program, and ends all that it has started."""

import os
import pathlib
import re
import resource
import select
import signal
import subprocess
import tempfile
import time
from typing import NamedTuple

from copies import ENVIRONMENT

SKIPPED = 77  # what a test exits with that cannot run here

LOOK_S = 0.25

SESSIONS = set()  # of the tests that run now, by their leaders


def members(session):
    """The processes of a session that still live."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            # After the name, which may hold anything: state, parent, group, session.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # gone meanwhile
        if int(fields[3]) == session and fields[0] not in "ZX":
            yield int(entry.name)


def end_session(session):
    """A fault may leave a test's children spinning for ever, long after the test. Again until none
    is left, because one may have forked while the others were killed. The leader must not have
    been waited for: until then its number is nobody else's. What has to outlive a test that is
    killed (the keeper of wait_hotplug, which gives the CPU back) has a session of its own."""
    for _ in range(100):
        living = list(members(session))
        for pid in living:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not living:
            return
        time.sleep(0.01)


def cpu_of(session):
    """Seconds of processors that the living of a session have used, and whether one of them wants
    a processor or a device. Children that have ended do not count."""
    used, is_busy = 0.0, False
    for pid in members(session):
        try:
            threads = [one.read_text() for one in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
        except OSError:
            continue  # gone meanwhile
        for thread in threads:
            fields = thread.rpartition(")")[2].split()
            is_busy |= fields[0] in "RD"
            used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used, is_busy


class Limit:
    """Of one run: seconds of processors, and looks at which all of it sleeps."""

    def __init__(self, cpu_s, looks):
        self.cpu_s, self.looks, self.asleep = cpu_s, looks, 0

    def hangs(self, session):
        """Words if it does by now: it spins, or it sleeps. Who is kept from running wants a
        processor and is not asleep, so a slow machine raises neither."""
        used, is_busy = cpu_of(session)
        self.asleep += not is_busy
        if used > self.cpu_s:
            return f"hangs: {used:.0f} s of a processor"
        if self.asleep > self.looks:
            return f"hangs: asleep at {self.asleep} looks"
        return ""


NO_LIMIT = (float("inf"), float("inf"))


class End(NamedTuple):
    """Of one run of a test."""

    words: str  # "" for a pass, "skipped", or about the failure
    cpu_s: float = 0.0  # of processors, by it and its children
    skips: frozenset = frozenset()  # the parts that it left out, by name


SKIPPED_PART = re.compile(rb"^\[  SKIPPED \] (\w+)$", re.MULTILINE)
MOST_SAID, MOST_WRITTEN = 1 << 20, 1 << 30  # bytes; a fault may print for ever


def run(copy, path, cpu_s, looks):
    with tempfile.TemporaryFile() as said:
        words, used_s = watch(copy, path, Limit(cpu_s, looks), said)
        said.seek(0)
        return End(words, used_s, frozenset(SKIPPED_PART.findall(said.read(MOST_SAID))))


def watch(copy, path, limit, said):
    """The words and the seconds of End."""
    hung = ""
    test = subprocess.Popen(
        [str(copy.build / path)],
        cwd=copy.build,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    resource.prlimit(test.pid, resource.RLIMIT_FSIZE, (MOST_WRITTEN, MOST_WRITTEN))
    SESSIONS.add(test.pid)
    end = os.pidfd_open(test.pid)
    try:
        while not hung and not select.select([end], [], [], LOOK_S)[0]:
            hung = limit.hangs(test.pid)
    finally:
        os.close(end)
        end_session(test.pid)
        SESSIONS.discard(test.pid)
        _, status, used = os.wait4(test.pid, 0)
        test.returncode = status = os.waitstatus_to_exitcode(status)
    if hung:
        return hung, 0.0
    cpu = used.ru_utime + used.ru_stime
    if status == SKIPPED:
        return "skipped", cpu
    if status < 0:
        return f"signal {-status}", cpu
    return (f"exit {status}" if status else ""), cpu


def stop(number, _frame):
    """The terminal's signals do not reach the tests' sessions: pass them on, as an end."""
    for session in list(SESSIONS):
        end_session(session)
    os._exit(128 + number)


def stop_on_signals():
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
