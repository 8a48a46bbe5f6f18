# SPDX-License-Identifier: MIT
"""Units that start programs: prepared, looked after, none left behind."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from calendars import (
    compile_library,
    ready,
    refusal,
    run_calendar,
    run_units,
    unit_of,
    write_calendar,
)

from timebase.run import launches


def command(words, *more):
    return "\n".join(
        [
            '[[unit]]\nname = "x"\nperiod = "60ms"\nduration = "20ms"\nreleases = 3',
            "deadline = '20s'",  # nothing is skipped, however long the machine is away
            f"command = {json.dumps(words)}",
            *more,
        ]
    )


def is_gone(process):
    """Or dead at least, and to be buried by init."""
    try:
        stat = text_of(f"/proc/{process}/stat")
    except (FileNotFoundError, ProcessLookupError):  # before it was opened, or after
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def text_of(path):
    return Path(path).read_text(encoding="utf-8")


def time_out_only_after(path, monkeypatch):
    """For those who look after programs, time begins when the file is there: no time-out before."""

    class Waiting:
        monotonic_ns = staticmethod(lambda: time.monotonic_ns() if path.exists() else 0)

    monkeypatch.setattr(launches, "time", Waiting)


def no_children():
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def test_program_is_started_with_its_arguments_and_output(tmp_path):
    units = command(["sh", "-c", 'echo "$0|$1" "$TB_TEST"; echo bad >&2', "a b", ""],
                    "stdout = 'out'", "stderr = 'err'")  # fmt: skip
    os.environ["TB_TEST"] = "kept"
    try:
        document = run_units(tmp_path, units)
    finally:
        del os.environ["TB_TEST"]
    found = unit_of(document, "x")["command"]
    assert found["started"] == found["exits"].get("0", 0) >= 1
    assert found["not_started"] == found["signals"] == {}
    assert (tmp_path / "out").read_text() == "a b| kept\n" * found["started"]
    assert (tmp_path / "err").read_text() == "bad\n" * found["started"]
    assert no_children()


def test_program_begins_after_its_release_and_takes_some_time(tmp_path):
    unit = unit_of(run_units(tmp_path, command(["true"])), "x")
    assert unit["begin_ns"]["least"] >= unit["error_ns"]["least"] - 1000
    assert unit["command"]["launch_ns"]["least"] > 0
    assert unit["command"]["ran_ns"]["least"] > 0


def test_output_of_an_earlier_run_is_lost_only_to_another_run(tmp_path):
    path = write_calendar(tmp_path, command(["echo", "new"], "stdout = 'out'", "stderr = 'err'"))
    for name in ("out", "err"):
        (tmp_path / name).write_text("old\n", encoding="utf-8")
    ready(path).run(lambda _running: False, lambda _session: None)
    assert text_of(tmp_path / "out") == text_of(tmp_path / "err") == "old\n"
    run_calendar(path)
    assert set(text_of(tmp_path / "out").splitlines()) == {"new"}
    assert text_of(tmp_path / "err") == ""


def test_program_is_an_ordinary_process_of_its_own_group(tmp_path):
    """Whatever the dispatcher may have been granted."""
    cpu, cpus = min(os.sched_getaffinity(0)), os.sched_getaffinity(0)
    files = [f"/proc/self/{name}" for name in ("stat", "status", "timerslack_ns")]
    units = command(["cat", *files], "stdout = 'out'").replace("releases = 3", "releases = 1")
    run_calendar(write_calendar(tmp_path, units, head=f"[calendar]\ncpu = {cpu}\npriority = 1\n"))

    stat, *status, slack = text_of(tmp_path / "out").splitlines()
    fields = stat.rpartition(")")[2].split()
    assert fields[2] == stat.split()[0]  # the group is the process
    assert fields[38] == "0"  # SCHED_OTHER
    theirs = dict(line.split(":", 1) for line in status)
    ours = dict(line.split(":", 1) for line in text_of("/proc/self/status").splitlines())
    python_ignores = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)
    assert int(theirs["SigBlk"], 16) == 0
    assert int(theirs["SigIgn"], 16) == int(ours["SigIgn"], 16) & ~python_ignores
    assert theirs["Cpus_allowed_list"].strip() == ",".join(map(str, sorted(cpus - {cpu} or cpus)))
    assert slack == text_of("/proc/self/timerslack_ns").strip()


def test_program_has_nothing_to_read(tmp_path):
    run_units(tmp_path, command(["cat"], "stdout = 'out'"))
    assert text_of(tmp_path / "out") == ""


def test_time_out_of_a_c_function_works_after_a_program_was_started(tmp_path):
    """Starting one blocks all signals for a while."""
    compile_library(tmp_path, 'void hang(void *a) { for (;;) __asm__ volatile(""); }')
    units = """
        [[unit]]
        name = "x"
        duration = "20ms"
        command = ["true"]

        [[unit]]
        name = "hang"
        ready = "100ms"
        duration = "1ms"
        timeout = "2ms"
        call = "work.so:hang"
    """
    document = run_units(tmp_path, units)
    assert unit_of(document, "hang")["timed_out"] == 1


def test_failures_are_counted_by_their_kind(tmp_path):
    document = run_units(tmp_path, command(["sh", "-c", "exit 7"]))
    found = unit_of(document, "x")["command"]
    assert found["exits"] == {"7": found["started"]}
    document = run_units(tmp_path, command(["sh", "-c", "kill -USR1 $$"]))
    found = unit_of(document, "x")["command"]
    assert found["signals"] == {"SIGUSR1": found["started"]}


def test_failure_ends_the_run_if_that_is_asked_for(tmp_path):
    units = command(["false"], 'on_error = "stop"').replace("releases = 3", "")
    document = run_units(tmp_path, units)
    assert document["run"]["ended"] == "error"
    assert document["run"]["failed_unit"] == "x"


def test_program_that_cannot_be_executed_is_a_failure_of_its_release(tmp_path):
    """It looks like a program when it is looked at, and is none when it is started."""
    program = tmp_path / "none"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    unit = unit_of(run_units(tmp_path, command(["./none"])), "x")
    found = unit["command"]
    assert found["started"] == 0
    assert sum(found["not_started"].values()) >= 1
    assert set(found["not_started"]) == {os.strerror(2)}
    assert unit["failed"] == sum(found["not_started"].values())
    assert found["exits"] == found["signals"] == {}
    assert no_children()


def test_program_that_hangs_is_ended_with_its_group(tmp_path, monkeypatch):
    units = f"""
        [[unit]]
        name = "x"
        duration = "20ms"
        timeout = "300ms"
        kill_after = "1h"
        command = ["sh", "-c", "sleep 1000 & cd {tmp_path}; echo $! $$ > new; mv new ids; wait"]
    """
    time_out_only_after(tmp_path / "ids", monkeypatch)
    found = unit_of(run_units(tmp_path, units), "x")
    assert found["timed_out"] == found["command"]["timed_out"] == 1
    assert found["command"]["signals"] == {"SIGTERM": 1}
    for process in (tmp_path / "ids").read_text().split():
        while not is_gone(process):  # signalled before the run ended, but perhaps not scheduled
            time.sleep(0.01)
    assert no_children()


def test_program_that_ignores_sigterm_is_killed(tmp_path, monkeypatch):
    units = f"""
        [[unit]]
        name = "x"
        duration = "20ms"
        timeout = "100ms"
        kill_after = "50ms"
        command = ["sh", "-c", "trap '' TERM; touch {tmp_path}/trapped; while :; do sleep 0.01; done"]
    """
    time_out_only_after(tmp_path / "trapped", monkeypatch)
    found = unit_of(run_units(tmp_path, units), "x")["command"]
    assert found["timed_out"] == 1
    assert found["killed"] == 1
    assert found["signals"] == {"SIGKILL": 1}
    assert no_children()


def test_program_that_still_runs_is_not_started_again(tmp_path):
    found = unit_of(run_units(tmp_path, command(["sleep", "0.3"])), "x")
    assert found["command"]["started"] + found["command"]["held"] == found["released"]
    assert found["command"]["held"] == found["command"]["overlaps"]
    assert found["command"]["exits"] == {"0": found["command"]["started"]}


def test_several_may_run_at_once_if_that_is_asked_for(tmp_path):
    found = unit_of(run_units(tmp_path, command(["sleep", "0.3"], "at_most = 3")), "x")
    assert found["command"]["started"] == found["released"]
    assert found["command"]["held"] == 0
    assert found["command"]["exits"] == {"0": found["released"]}
    assert no_children()


def test_programs_are_waited_for_although_somebody_ignores_their_ends(tmp_path):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        found = unit_of(run_units(tmp_path, command(["false"])), "x")["command"]
        assert found["exits"] == {"1": found["started"]}
        assert signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_run_leaves_no_file_open(tmp_path):
    before = sorted(os.listdir("/proc/self/fd"))
    run_units(tmp_path, command(["true"], "stdout = 'out'", "stderr = 'out'"))
    assert sorted(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    "words, more, key, text",
    [
        (["no-such-program-x"], "", "command", "in PATH"),
        (["./missing"], "", "command", "no such file"),
        (["./calendar.toml"], "", "command", "cannot be executed"),
        (["./folder"], "", "command", "cannot be executed"),
        (["true"], "stdout = 'missing/out'", "stdout", "cannot write missing/out"),
        (["true"], "stderr = 'folder'", "stderr", "cannot write folder"),
    ],
)
def test_program_that_cannot_be_started_is_named(tmp_path, words, more, key, text):
    (tmp_path / "folder").mkdir()
    found = refusal(tmp_path, command(words, more))
    assert f'unit "x": {key}: ' in found
    assert text in found
