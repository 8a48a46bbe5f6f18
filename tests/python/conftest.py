# SPDX-License-Identifier: MIT
"""Programs as a user runs them: the command line, another process each time; and the daemon."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass

import pytest
from daemons import Daemon

# Whoever starts the tests in the background has them ignore these, and all programs inherit it:
# `timebase run` then goes on after Ctrl-C, as it should, and tests that send it would wait for ever.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


@dataclass
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def timebase_command(tmp_path):
    """run(*arguments, environment={...}) in an empty folder."""

    def run(*arguments, environment=None):
        done = subprocess.run(
            [sys.executable, "-c", "from timebase.cli import main; main()", *arguments],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1", "TERM": "dumb", **(environment or {})},
            capture_output=True,
            encoding=(environment or {}).get("PYTHONIOENCODING", "utf-8"),
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def start(tmp_path):
    """start(*arguments): daemons in a folder of the test's own, ended with it."""
    begun = []

    def begin(*arguments, **keywords):
        daemon = Daemon(tmp_path, *arguments, **keywords)
        begun.append(daemon)
        return daemon

    yield begin
    for daemon in begun:
        daemon.end(signal.SIGKILL)
