# SPDX-License-Identifier: MIT
"""Units that do nothing, and those that call a function of a shared object."""

import ctypes
import gc

import pytest
from calendars import (
    compile_library,
    refusal,
    run_calendar,
    run_units,
    unit_of,
    write_calendar,
)

from timebase.run.source import CalendarFileError


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
            names = ("p50", "p90", "p99", "p999", "max")
            shares = [errors[name] for name in names if errors[name] is not None]
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


@pytest.mark.parametrize("year", [2100, 9999])
def test_start_that_is_too_far_ahead_is_named(tmp_path, year):
    units = '[[unit]]\nname = "a"\nduration = "1us"\nnone = true\n'
    path = write_calendar(tmp_path, units, more=f"start = {year}-02-03T04:05:06Z\n")
    with pytest.raises(CalendarFileError, match=r"toml:4: \[calendar\]: start: is too far ahead"):
        run_calendar(path)


COUNTING = """
    #include <string.h>
    int calls, last;
    char text[32];
    void count(void *argument) { calls++; last = (int)(long)argument; }
    void keep(void *argument) { strncpy(text, argument, sizeof text - 1); calls++; }
"""


def library_of(path):

    return ctypes.CDLL(str(path))


def value_of(library, name):

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
