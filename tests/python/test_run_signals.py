# SPDX-License-Identifier: MIT
"""Ctrl-C, SIGTERM, SIGHUP, twice, and SIGKILL: nothing is lost, nothing is left."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import textwrap
import time

import pytest
from calendars import CPU, ENDLESS, ONCE, PROGRAM, compile_library, unit_of, valid, write_calendar

DONE, FAILED = 0, 1
# After the second signal a callable has an hour to come to its end, not the usual second.
PATIENT = [word.replace("from", "from timebase.run import session; from") for word in PROGRAM]
PATIENT = [word.replace("main()", "session.LAST_CHANCE_SEC = 3600; main()") for word in PATIENT]


@contextlib.contextmanager
def running(folder, *arguments, begun="begun", program=PROGRAM):
    """The program at work, once its calendar has made the file `begun`; gone at the end."""
    process = subprocess.Popen(
        [*program, *arguments],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while not (folder / begun).exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_the_run_and_nothing_is_lost(tmp_path, number):
    write_calendar(tmp_path, ENDLESS)
    with running(tmp_path, "calendar.toml", "--json", "out.json") as process:
        process.send_signal(number)
        out, err = process.communicate()
    assert process.returncode == DONE, err
    assert f"Stopped by {number.name}." in out
    assert "told" in out
    document = valid(json.loads((tmp_path / "out.json").read_text(encoding="utf-8")))
    assert document["run"]["ended"] == "stopped"
    assert document["run"]["stopped_by"] == number.name
    assert unit_of(document, "told")["command"]["exits"] == {"0": 1}
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"begun", "calendar.toml", "out.json"}


# Says by a file when the run's handlers are there: earlier, Python's own end it.
TOLD = """from timebase.run.signals import Signals; enter = Signals.__enter__; \
Signals.__enter__ = lambda self: (enter(self), open("begun", "w").close())[0]; from"""


def test_signal_before_the_start_ends_the_wait_for_it(tmp_path):
    write_calendar(tmp_path, ONCE, more="start = 2060-01-01T00:00:00Z\n")
    program = [word.replace("from", TOLD) for word in PROGRAM]
    with running(tmp_path, "calendar.toml", "--json", "-", program=program) as process:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
    assert process.returncode == DONE, err
    document = valid(json.loads(out))
    assert document["run"]["stopped_by"] == "SIGTERM"
    assert unit_of(document, "a")["released"] == 0


def test_signal_ends_programs_too(tmp_path):
    units = """
        [[unit]]
        name = "x"
        duration = "20ms"
        kill_after = "1h"
        command = ["sh", "-c", "touch begun; exec sleep 1000"]
    """
    write_calendar(tmp_path, units)
    with running(tmp_path, "calendar.toml", "--json", "-") as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == DONE, err
    assert unit_of(valid(json.loads(out)), "x")["command"]["signals"] == {"SIGTERM": 1}


def test_second_signal_leaves_a_unit_behind_that_does_not_end(tmp_path):
    source = """
        #include <fcntl.h>
        void hang(void *a) { (void)a; open("begun", O_CREAT | O_WRONLY, 0600); for (;;) ; }
    """
    compile_library(tmp_path, source)
    units = ONCE.replace("none = true", 'call = "work.so:hang"')
    write_calendar(tmp_path, units)
    with running(tmp_path, "calendar.toml", "--json", "out.json") as process:
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        out, _err = process.communicate()
    assert process.returncode == FAILED
    assert "did not come back" in out
    document = valid(json.loads((tmp_path / "out.json").read_text(encoding="utf-8")))
    assert document["run"]["ended"] == "abandoned"


def test_second_signal_ends_a_callable_and_a_program_that_ignore_the_first(tmp_path):
    """The signals are different ones: two that are equal become one if none is taken in between."""
    source = """
        import os
        def hang():
            while not os.path.exists("trapped"):
                pass
            open("begun", "w").close()
            while True:
                pass
    """
    (tmp_path / "stubborn.py").write_text(textwrap.dedent(source))
    units = """
        [[unit]]
        name = "x"
        duration = "20ms"
        command = ["sh", "-c", "trap '' TERM; touch trapped; while :; do sleep 0.01; done"]
        kill_after = "1h"

        [[unit]]
        name = "py"
        ready = "100ms"
        duration = "1ms"
        python = "stubborn:hang"
    """
    write_calendar(tmp_path, units)
    with running(tmp_path, "calendar.toml", "--json", "-", program=PATIENT) as process:
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
    assert process.returncode == DONE, err
    document = valid(json.loads(out))
    assert document["run"]["ended"] == "stopped"
    assert unit_of(document, "py")["timed_out"] == 1
    assert unit_of(document, "x")["command"]["signals"] == {"SIGKILL": 1}


def become_subreaper(wanted):
    """So that orphans are ours to wait for, and none is left for longer than the test."""
    return ctypes.CDLL(None).prctl(36, int(wanted), 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER


def test_killed_run_leaves_nothing(tmp_path):
    """No program, no half file, nothing real-time: all that ends with its process."""
    units = """
        [[unit]]
        name = "x"
        duration = "20ms"
        command = ["sh", "-c", "echo $$ > id; mv id begun; exec sleep 1000"]

        [[unit]]
        name = "a"
        ready = "30ms"
        period = "5ms"
        duration = "1us"
        none = true
    """
    # With all that is real-time, at the lowest priority.
    write_calendar(tmp_path, units, head=f"[calendar]\ncpu = {CPU}\npriority = 1\n")
    affinity, policy = os.sched_getaffinity(0), os.sched_getscheduler(0)
    assert become_subreaper(True)
    try:
        with running(tmp_path, "calendar.toml", "--json", "out.json") as process:
            program = int((tmp_path / "begun").read_text())
            process.kill()
            process.communicate()
            assert process.returncode == -signal.SIGKILL
            _pid, status = os.waitpid(program, 0)
    finally:
        become_subreaper(False)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert {path.name for path in tmp_path.iterdir()} == {"begun", "calendar.toml"}
    assert (os.sched_getaffinity(0), os.sched_getscheduler(0)) == (affinity, policy)
