# SPDX-License-Identifier: MIT
"""Units that call Python: honest figures, exceptions, time-outs."""

import sys
import time

import pytest
from calendars import refusal, run_calendar, run_units, unit_of, valid, write_calendar

from timebase.run import watchdog
from timebase.run.table import ending


def script(folder, text, name):
    (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_callable_is_called_and_its_own_begin_measured(tmp_path, monkeypatch):
    kernel_ns = time.monotonic_ns
    # A busy machine's kernel is read this badly at times; what is measured is by one clock.
    monkeypatch.setattr(time, "monotonic_ns", lambda: kernel_ns() + 50_000)
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
    # extremes. 1 us for what the clock is slewed by between them.
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
    assert unit["failed"] == 6
    assert "Unit py: 6 of 6 actions failed." in ending(document)


def test_a_run_whose_actions_failed_has_failed(timebase_command, tmp_path):
    script(tmp_path, "def fail():\n    1 / 0\n", "failing")
    units = """
        [[unit]]
        name = "py"
        duration = "1ms"
        deadline = "20s"
        releases = 1
        python = "failing:fail"
        """
    write_calendar(tmp_path, units)
    outcome = timebase_command("run", "calendar.toml")
    assert outcome.code == 1
    assert "Unit py: 1 of 1 actions failed." in outcome.out


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


def test_callable_that_runs_too_long_is_stopped(tmp_path, monkeypatch):
    """For who watches it, time goes by only within its try: no time-out strikes earlier."""
    text = """
is_within, ended = False, []
def hang():
    global is_within
    try:
        is_within = True
        while True:
            pass
    except Exception:
        ended.append("swallowed")
    finally:
        is_within = False
        ended.append("left")
"""

    class Waiting:
        monotonic_ns = staticmethod(
            lambda: time.monotonic_ns() if sys.modules["hanging"].is_within else 0
        )

    monkeypatch.setattr(watchdog, "time", Waiting)
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
