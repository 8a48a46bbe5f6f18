# SPDX-License-Identifier: MIT
"""What units may do: C functions, programs, Python callables, nothing. Within this process."""

import gc
import json
import os
import signal
import time
from pathlib import Path

import jsonschema
import pytest
from calendars import compile_library, run_calendar, unit_of, write_calendar

from timebase import schemas
from timebase.dispatch.keys import CalendarFileError


def valid(document):
    """As it would be written."""
    document = json.loads(json.dumps(document))
    jsonschema.Draft202012Validator(schemas.load("run")).validate(document)
    return document


def run_units(folder, units, more=""):
    document = valid(run_calendar(write_calendar(folder, units, more=more)))
    assert document["admitted"], document["problems"]
    return document


def refusal(folder, units):
    with pytest.raises(CalendarFileError) as complaint:
        run_calendar(write_calendar(folder, units))
    return str(complaint.value)


# ---- nothing


def test_every_release_is_accounted_for(tmp_path):
    document = run_units(
        tmp_path,
        """
        [[unit]]
        name = "a"
        period = "1ms"
        duration = "1us"
        releases = 30
        none = true

        [[unit]]
        name = "b"
        ready = "500us"
        period = "3ms"
        duration = "1us"
        releases = 10
        wait = "exact"
        none = true
        """,
    )
    assert document["run"]["ended"] == "done"
    assert document["run"]["lost"] == 0
    for name, releases in (("a", 30), ("b", 10)):
        unit = unit_of(document, name)
        assert unit["released"] + unit["skipped"] == releases
        in_buckets = sum(one["before"] + one["after"] for one in unit["histogram"])
        assert in_buckets == unit["released"]
        errors = unit["error_ns"]
        if errors:
            shares = [errors[share] for share in ("p50", "p90", "p99", "p999", "max")]
            assert shares == sorted(shares)
            assert errors["least"] <= errors["mean"] <= errors["most"]
            assert errors["max"] == max(abs(errors["least"]), abs(errors["most"]))


def test_start_at_the_next_second_is_one(tmp_path):
    units = '[[unit]]\nname = "a"\nduration = "1us"\nnone = true\n'
    document = run_units(tmp_path, units, more='start = "next second"\n')
    started = document["run"]["start_utc_ns"]
    if started is not None:  # else it came too late for its only release
        assert min(started % 10**9, -started % 10**9) < 1_000_000


def test_start_that_has_passed_is_named(tmp_path):
    units = '[[unit]]\nname = "a"\nduration = "1us"\nnone = true\n'
    path = write_calendar(tmp_path, units, more="start = 2001-02-03T04:05:06Z\n")
    with pytest.raises(CalendarFileError, match=r"toml:4: \[calendar\]: start: was .* ago"):
        run_calendar(path)


# ---- a function of a shared object

COUNTING = """
    #include <string.h>
    int calls, last;
    char text[32];
    void count(void *argument) { calls++; last = (int)(long)argument; }
    void keep(void *argument) { strncpy(text, argument, sizeof text - 1); calls++; }
"""


def library_of(path):
    import ctypes

    return ctypes.CDLL(str(path))


def value_of(library, name):
    import ctypes

    return ctypes.c_int.in_dll(library, name).value


def test_c_function_gets_its_number(tmp_path):
    library = library_of(compile_library(tmp_path, COUNTING))
    document = run_units(
        tmp_path,
        """
        [[unit]]
        name = "c"
        period = "1ms"
        duration = "10us"
        releases = 20
        call = "work.so:count"
        argument = -7
        """,
    )
    assert value_of(library, "calls") == unit_of(document, "c")["released"]
    assert value_of(library, "last") == -7


def test_c_function_gets_its_string_which_is_not_collected(tmp_path):
    import ctypes

    library = library_of(compile_library(tmp_path, COUNTING))
    units = """
        [[unit]]
        name = "c"
        period = "5ms"
        duration = "10us"
        releases = 10
        call = "work.so:keep"
        argument = "grüße"
    """
    document = run_calendar(write_calendar(tmp_path, units), look=lambda _: gc.collect())
    if unit_of(document, "c")["released"]:
        assert (ctypes.c_char * 32).in_dll(library, "text").value.decode() == "grüße"


def test_c_function_that_runs_too_long_is_stopped(tmp_path):
    compile_library(tmp_path, 'void hang(void *a) { for (;;) __asm__ volatile(""); }')
    document = run_units(
        tmp_path,
        """
        [[unit]]
        name = "hang"
        period = "50ms"
        duration = "1ms"
        timeout = "2ms"
        deadline = "20s"
        releases = 3
        call = "work.so:hang"
        """,
    )
    unit = unit_of(document, "hang")
    assert unit["timed_out"] == unit["released"] == 3


def test_rehearsal_is_known_to_a_library_that_is_not_linked(tmp_path):
    path = compile_library(
        tmp_path,
        """
        int timebase_wait_rehearsing(void);
        int rehearsals, calls;
        void work(void *a) { if (timebase_wait_rehearsing()) rehearsals++; else calls++; }
        """,
    )
    document = run_units(
        tmp_path,
        """
        [[unit]]
        name = "c"
        ready = "50ms"
        period = "50ms"
        duration = "10us"
        releases = 3
        rehearse = true
        call = "work.so:work"
        """,
    )
    library = library_of(path)
    unit = unit_of(document, "c")
    assert value_of(library, "calls") == unit["released"]
    assert value_of(library, "rehearsals") <= unit["released"]


@pytest.mark.parametrize(
    "call, words",
    [
        ("missing.so:f", "cannot load missing.so"),
        ("work.so:missing", "has no symbol missing"),
        ("work.so:data", "is data, not a function"),
        ("calendar.toml:f", "cannot load"),
    ],
)
def test_c_function_that_cannot_be_called_is_named(tmp_path, call, words):
    compile_library(tmp_path, "int data = 5; void f(void *a) { (void)a; }")
    found = refusal(tmp_path, f'[[unit]]\nname = "c"\nduration = "1us"\ncall = "{call}"\n')
    assert 'calendar.toml:7: unit "c": call: ' in found
    assert words in found


# ---- a Python callable


def script(folder, text, name):
    (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_callable_is_called_and_its_own_begin_measured(tmp_path):
    script(tmp_path, "calls = []\ndef tick():\n    calls.append(1)\n", "ticking")
    document = run_units(
        tmp_path,
        """
        [[unit]]
        name = "py"
        period = "5ms"
        duration = "1ms"
        deadline = "20s"
        releases = 20
        python = "ticking:tick"
        """,
    )
    import ticking

    unit = unit_of(document, "py")
    assert len(ticking.calls) == unit["released"] == unit["python"]["calls"]
    assert unit["python"]["exceptions"] == {}
    # It begins after it has been dispatched, whatever the machine does: each by each, and so the
    # extremes. 1 us for the two clocks.
    assert unit["begin_ns"]["least"] >= unit["error_ns"]["least"] - 1000
    assert unit["begin_ns"]["most"] >= unit["error_ns"]["most"] - 1000


def test_exceptions_are_counted_and_the_first_is_shown(tmp_path):
    text = "n = 0\ndef fail():\n    global n\n    n += 1\n    {}[n] if n % 2 else 1 / 0\n"
    script(tmp_path, text, "failing")
    path = write_calendar(
        tmp_path,
        """
        [[unit]]
        name = "py"
        period = "10ms"
        duration = "1ms"
        deadline = "20s"
        releases = 6
        python = "failing:fail"
        """,
    )
    told = []
    document = valid(run_calendar(path, lambda session: told.extend(session.notices)))
    unit = unit_of(document, "py")
    assert unit["python"]["exceptions"] == {"KeyError": 3, "ZeroDivisionError": 3}
    assert "failing.py" in unit["python"]["first_error"]
    assert "KeyError: 1" in unit["python"]["first_error"]
    assert "script.py" not in unit["python"]["first_error"]
    assert any("raised KeyError" in one for one in told)
    assert document["run"]["ended"] == "done"


def test_exception_ends_the_run_if_that_is_asked_for(tmp_path):
    script(tmp_path, "def leave():\n    raise SystemExit(3)\n", "leaving")
    document = run_units(
        tmp_path,
        """
        [[unit]]
        name = "py"
        period = "50ms"
        duration = "1ms"
        deadline = "20s"
        python = "leaving:leave"
        on_error = "stop"
        """,
    )
    assert document["run"]["ended"] == "error"
    assert document["run"]["failed_unit"] == "py"
    assert unit_of(document, "py")["python"]["exceptions"] == {"SystemExit": 1}


def test_callable_that_runs_too_long_is_stopped(tmp_path):
    text = """
ended = []
def hang():
    try:
        while True:
            pass
    except Exception:
        ended.append("swallowed")
    finally:
        ended.append("left")
"""
    script(tmp_path, text, "hanging")
    document = run_units(
        tmp_path,
        """
        [[unit]]
        name = "py"
        period = "200ms"
        duration = "1ms"
        timeout = "20ms"
        deadline = "20s"
        releases = 2
        python = "hanging:hang"

        [[unit]]
        name = "after"
        ready = "500ms"
        duration = "1us"
        none = true
        """,
    )
    import hanging

    unit = unit_of(document, "py")
    assert unit["python"]["timed_out"] == unit["timed_out"] == unit["released"] == 2
    assert hanging.ended == ["left"] * 2
    assert "UnitTimedOut" in unit["python"]["first_error"]
    assert unit_of(document, "after")["released"] == 1


def test_time_out_that_is_swallowed_is_counted(tmp_path):
    text = """
def hang():
    try:
        while True:
            pass
    except BaseException:
        pass
"""
    script(tmp_path, text, "swallowing")
    units = """
        [[unit]]
        name = "py"
        duration = "1ms"
        timeout = "5ms"
        python = "swallowing:hang"
    """
    unit = unit_of(run_units(tmp_path, units), "py")
    assert unit["timed_out"] == 1


def test_callables_that_end_just_at_their_time_out_hurt_nobody(tmp_path):
    """Whether the exception comes before, at or after the last line, it is this callable's."""
    text = """
import time
def some():
    end = time.monotonic_ns() + 2_000_000
    while time.monotonic_ns() < end:
        pass
def nothing():
    pass
"""
    script(tmp_path, text, "narrow")
    units = """
        [[unit]]
        name = "narrow"
        period = "8ms"
        duration = "2ms"
        timeout = "2ms"
        deadline = "8ms"
        releases = 60
        python = "narrow:some"

        [[unit]]
        name = "other"
        ready = "5ms"
        period = "8ms"
        duration = "1ms"
        deadline = "8ms"
        releases = 60
        python = "narrow:nothing"
    """
    document = run_units(tmp_path, units)
    assert unit_of(document, "narrow")["python"]["exceptions"] == {}
    assert unit_of(document, "other")["python"]["exceptions"] == {}
    assert unit_of(document, "other")["timed_out"] == 0


@pytest.mark.parametrize(
    "text, target, words",
    [
        ("", "missing_module_x:f", "importing missing_module_x raised ModuleNotFoundError"),
        ("def f(): pass\n", "m1:g", "module m1 has no g"),
        ("f = 3\n", "m2:f", "m2:f is int, not a function"),
        ("def f(a): pass\n", "m3:f", "called without arguments"),
        ("raise SystemExit\n", "m4:f", "importing m4 raised SystemExit"),
        ("import nothing_like_this\n", "m5:f", "importing m5 raised ModuleNotFoundError"),
        ("{}.x\n", "m6:f", "importing m6 raised AttributeError"),
        ("def f(:\n", "m7:f", "importing m7 raised SyntaxError"),
    ],
)
def test_callable_that_cannot_be_called_is_named(tmp_path, text, target, words):
    script(tmp_path, text, target.split(":")[0] if text else "unused")
    found = refusal(tmp_path, f'[[unit]]\nname = "p"\nduration = "1us"\npython = "{target}"\n')
    assert 'calendar.toml:7: unit "p": python: ' in found
    assert words in found


# ---- a program


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
    except FileNotFoundError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def text_of(path):
    return Path(path).read_text(encoding="utf-8")


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


def test_program_is_an_ordinary_process_of_its_own_group(tmp_path):
    """Whatever the dispatcher may have been granted."""
    look = (
        "cut -d' ' -f1,5,41 /proc/$$/stat; "
        "grep -E 'SigBlk|SigIgn|Cpus_allowed_list' /proc/$$/status; "
        "cat /proc/$$/timerslack_ns; readlink /proc/$$/fd/0"
    )
    cpu, cpus = min(os.sched_getaffinity(0)), os.sched_getaffinity(0)
    units = command(["sh", "-c", look], "stdout = 'out'")
    run_calendar(write_calendar(tmp_path, units, head=f"[calendar]\ncpu = {cpu}\npriority = 1\n"))

    lines = (tmp_path / "out").read_text().splitlines()
    process, group, policy = lines[0].split()
    assert process == group
    assert policy == "0"  # SCHED_OTHER
    status = dict(line.split(":", 1) for line in lines[1:4])
    ours = dict(line.split(":", 1) for line in text_of("/proc/self/status").splitlines())
    assert int(status["SigBlk"], 16) == 0
    python_ignores = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)
    assert int(status["SigIgn"], 16) == int(ours["SigIgn"], 16) & ~python_ignores
    assert status["Cpus_allowed_list"].strip() == ",".join(map(str, sorted(cpus - {cpu} or cpus)))
    assert lines[4] == text_of("/proc/self/timerslack_ns").strip()
    assert lines[5] == "/dev/null"


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
    found = unit_of(run_units(tmp_path, command(["./none"])), "x")["command"]
    assert found["started"] == 0
    assert sum(found["not_started"].values()) >= 1
    assert set(found["not_started"]) == {os.strerror(2)}
    assert found["exits"] == found["signals"] == {}
    assert no_children()


def test_program_that_hangs_is_ended_with_its_group(tmp_path):
    units = f"""
        [[unit]]
        name = "x"
        duration = "20ms"
        timeout = "300ms"
        command = ["sh", "-c", "sleep 1000 & echo $! $$ >> {tmp_path}/ids; wait"]
    """
    found = unit_of(run_units(tmp_path, units), "x")
    assert found["timed_out"] == found["command"]["timed_out"] == 1
    assert found["command"]["signals"] == {"SIGTERM": 1}
    for process in (tmp_path / "ids").read_text().split():
        while not is_gone(process):  # signalled before the run ended, but perhaps not scheduled
            time.sleep(0.01)
    assert no_children()


def test_program_that_ignores_sigterm_is_killed(tmp_path):
    units = """
        [[unit]]
        name = "x"
        duration = "20ms"
        timeout = "100ms"
        kill_after = "50ms"
        command = ["sh", "-c", "trap '' TERM; while :; do sleep 0.01; done"]
    """
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
