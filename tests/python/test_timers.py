# SPDX-License-Identifier: MIT
"""Timers beside the counter: what is made of what C found, and what is told where it found none."""

import pytest

from timebase.api.library import ffi, lib
from timebase.bench import timers
from timebase.cli.timers import _rate_cells, _read_cells

ERRORS = {
    name.removeprefix("TIMEBASE_E_"): value
    for name, value in ffi.typeof("enum timebase_error").relements.items()
}


@pytest.fixture
def found(monkeypatch):
    """A device of 1 MHz, of which a read takes 500 ticks; what the test changes of it."""
    answer = {"error": 0, "reason": ffi.NULL, "edge": True, "rate": True}

    def measure(which, milliseconds, out):
        out.reason = answer["reason"]
        out.hz, out.reads, out.same, out.sees_edge = 1e6, 100, 80 * answer["edge"], answer["edge"]
        out.least_ticks, out.read_ticks, out.slowest_ticks = 480, 500, 600
        for fit, error in ((out.plain, 0.03), (out.edge, 0.01)):
            fit.taken, fit.kept, fit.has_rate = 50, 45, answer["rate"]
            fit.residual_ticks, fit.residual_most_ticks = 300, 700
            fit.ticks_per_count, fit.error_ticks_per_count = 3000.3, error
        return answer["error"]

    class Library:
        timebase_bench_timer = staticmethod(measure)

        def __getattr__(self, name):
            return getattr(lib, name)

    monkeypatch.setattr(timers, "lib", Library())
    return answer


def test_names_are_those_of_c():
    count = lib.timebase_bench_timers()
    names = [ffi.string(lib.timebase_bench_timer_name(i)).decode() for i in range(count)]
    assert names == list(timers.TITLES)
    assert lib.timebase_bench_timer_name(count) == ffi.NULL
    assert lib.timebase_bench_timer_name(-1) == ffi.NULL


def test_a_number_out_of_range_is_refused():
    out = ffi.new("struct timebase_bench_timer *")
    assert lib.timebase_bench_timer(99, 10, out) == lib.TIMEBASE_E_INVALID
    assert lib.timebase_bench_timer(0, 0, out) == lib.TIMEBASE_E_INVALID


def test_the_kernel_s_raw_clock_can_always_be_measured():
    (row,) = timers.run(0.05, ("kernel",))["rows"]
    assert row["problem"] is None
    assert row["hz"] == 1e9
    assert row["plain"]["taken"] > 0


def test_the_more_certain_of_two_rates_counts(found):
    (row,) = timers.run(0.01, ("hpet",))["rows"]
    assert row["rate"]["by"] == "edge"
    assert row["rate"]["counter_hz"] == pytest.approx(3000.3e6)
    assert row["rate"]["error_ppm"] == pytest.approx(0.01 / 3000.3 * 1e6)
    assert row["against_kernel"] is None  # there is none to compare it with


def test_a_rate_that_contradicts_itself_is_none(found):
    found["rate"] = False
    (row,) = timers.run(0.01, ("hpet",))["rows"]
    assert row["rate"] is None
    assert _rate_cells(row)[-4:] == ["–"] * 4


def test_an_edge_that_is_not_seen_is_shown(found):
    found["edge"] = False
    (row,) = timers.run(0.01, ("hpet",))["rows"]
    assert row["edge"] is None
    assert _read_cells(row)[-2:] == ["0%", "no"]
    assert _rate_cells(row)[1:3] == ["–", "5 of 50"]


def test_rates_are_compared_with_the_kernel_s():
    def row(name, hz, error_ppm):
        return {"name": name, "rate": {"counter_hz": hz, "error_ppm": error_ppm}}

    kernel, hpet, none = timers.compare(
        [row("kernel", 3e9, 0.5), row("hpet", 3.0003e9, 2.0), {"name": "rtc", "rate": None}]
    )
    assert kernel["against_kernel"] is None
    assert hpet["against_kernel"]["ppm"] == pytest.approx(100)
    assert hpet["against_kernel"]["error_ppm"] == 2.5
    assert none["against_kernel"] is None


@pytest.mark.parametrize("name", ["hpet", "acpi_pm"])
@pytest.mark.parametrize("error", ["NOT_FOUND", "PERMISSION", "UNSUPPORTED", "REFERENCE", "FORMAT"])
def test_what_is_missing_has_a_reason_and_advice(found, name, error):
    reason = ffi.new("char[]", b"there is none")
    found["error"], found["reason"] = ERRORS[error], reason
    (row,) = timers.run(0.01, (name,))["rows"]
    assert row["problem"]["error"] == error
    assert row["problem"]["text"] == "there is none"
    assert row["problem"]["advice"].endswith(".")
    if error in ("NOT_FOUND", "PERMISSION", "UNSUPPORTED"):
        assert row["problem"]["advice"] != timers.OTHERWISE


def test_doctor_measures_the_kernel_only_if_there_is_something_to_compare(found):
    names = [row["name"] for row in timers.witnesses(0.01)]
    assert names == ["kernel", "hpet", "acpi_pm"]
    found["error"] = ERRORS["NOT_FOUND"]
    assert [row["name"] for row in timers.witnesses(0.01)] == ["hpet", "acpi_pm"]
