# SPDX-License-Identifier: MIT
"""Runs a test program, and ends all that it has started."""

import os
import pathlib
import select
import signal
import subprocess
import time

from copies import ENVIRONMENT

SKIPPED = 77  # what a test exits with that cannot run here

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


def run(copy, path, limit_s):
    """What the test's end was: "" for a pass, "skipped", or words about the failure."""
    test = subprocess.Popen(
        [str(copy.build / path)],
        cwd=copy.build,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    SESSIONS.add(test.pid)
    end = os.pidfd_open(test.pid)
    try:
        is_over, _, _ = select.select([end], [], [], limit_s)
    finally:
        os.close(end)
        end_session(test.pid)
        SESSIONS.discard(test.pid)
        status = test.wait()
    if not is_over:
        return f"hangs: {limit_s:.0f} s"
    if status == SKIPPED:
        return "skipped"
    if status < 0:
        return f"signal {-status}"
    return f"exit {status}" if status else ""


def stop(number, _frame):
    """The terminal's signals do not reach the tests' sessions: pass them on, as an end."""
    for session in list(SESSIONS):
        end_session(session)
    os._exit(128 + number)


def stop_on_signals():
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
