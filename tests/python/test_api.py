# SPDX-License-Identifier: MIT
"""What the Python names promise."""

import threading
import time

import pytest
from lateness import in_time, statistics_with_a_pace

import timebase
from timebase.api.library import check


@pytest.fixture
def clock():
    return timebase.default_clock()


def test_every_exported_name_exists():
    for name in dir(timebase):
        assert getattr(timebase, name) is not None


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = timebase.no_such_name


@pytest.mark.parametrize(
    "ours, kernel",
    [
        ("utc_ns", time.CLOCK_REALTIME),
        ("utc_ns_unordered", time.CLOCK_REALTIME),
        ("mono_ns", time.CLOCK_MONOTONIC),
        ("mono_ns_unordered", time.CLOCK_MONOTONIC),
        ("tai_ns", getattr(time, "CLOCK_TAI", 11)),
        ("tai_ns_unordered", getattr(time, "CLOCK_TAI", 11)),
    ],
)
def test_reading_lies_between_two_of_the_kernel(clock, ours, kernel):
    slack_ns = clock.now().maxerror_ns + 1_000_000  # the bound of now, and what it may grow
    before = time.clock_gettime_ns(kernel)
    reading = getattr(clock, ours)()
    after = time.clock_gettime_ns(kernel)
    assert before - slack_ns <= reading <= after + slack_ns


@pytest.mark.parametrize("name", ["utc_ns", "mono_ns", "tai_ns"])
def test_never_goes_backwards_in_one_thread(clock, name):
    read = getattr(clock, name)
    readings = [read() for _ in range(200_000)]
    assert readings == sorted(readings)


def by_the_same_lines(clock, look):
    """What look() finds between two publications: a tick of older lines is drawn back by newer ones,
    and a clock that has no lines yet gives the kernel's time."""
    for _ in range(10_000):
        before = clock.statistics()["publications"]
        found = look()
        if clock.statistics()["publications"] == before > 0:
            return found
        time.sleep(0.001)
    raise AssertionError("new lines between any two looks")


def test_now_is_consistent_with_itself(clock):
    def look():
        instant = clock.now()
        return instant, clock.at(instant.ticks)

    instant, again = by_the_same_lines(clock, look)
    assert again.mono_ns == instant.mono_ns
    assert again.utc_ns == instant.utc_ns
    assert isinstance(instant.status, timebase.Status)
    assert instant.leap_sec in (-1, 0, 1)
    assert instant.tai_ns == instant.utc_ns + (instant.tai_offset_sec or 0) * 10**9


def test_ticks_at_is_the_inverse(clock):
    def look():
        target, utc = clock.mono_ns() + 1_000_000, clock.utc_ns() + 1_000_000
        ticks, utc_ticks = clock.ticks_at_mono(target), clock.ticks_at_utc(utc)
        return target, clock.at(ticks), clock.at(ticks - 1), utc, clock.at(utc_ticks)

    target, at, just_before, utc, at_utc = by_the_same_lines(clock, look)
    assert at.mono_ns >= target > just_before.mono_ns
    assert at_utc.utc_ns >= utc


@pytest.mark.parametrize("name", ["interval", "realtime_interval"])
def test_interval_contains_the_reading(clock, name):
    interval = getattr(clock, name)()
    assert interval.earliest_ns <= interval.latest_ns
    assert interval.width_ns == interval.latest_ns - interval.earliest_ns
    assert interval.status in timebase.Status


def test_realtime_interval_contains_the_kernels_clock(clock):
    for _ in range(1000):
        before = time.clock_gettime_ns(time.CLOCK_REALTIME)
        interval = clock.realtime_interval()
        after = time.clock_gettime_ns(time.CLOCK_REALTIME)
        assert interval.earliest_ns <= after
        assert before <= interval.latest_ns


def test_manual_maintenance_publishes(clock):
    clock.set_maintenance(timebase.Maintenance.MANUAL)
    try:
        before = clock.statistics()["publications"]
        for _ in range(200):
            clock.maintain()
            time.sleep(0.001)
        assert clock.statistics()["publications"] > before
    finally:
        clock.set_maintenance(timebase.Maintenance.AUTOMATIC)


def test_nonsense_maintenance_is_refused(clock):
    with pytest.raises(timebase.TimebaseError) as refusal:
        clock.set_maintenance(77)
    assert refusal.value.code is not None


def test_statistics_have_the_names_of_the_header(clock):
    statistics = statistics_with_a_pace(clock)
    assert statistics["frequency_hz"] > 0
    assert {"samples", "utc_steps", "counter_jumps", "last_offset_ns"} <= statistics.keys()


def test_ticks_go_forward():
    first = timebase.ticks_ordered()
    assert (timebase.ticks_ordered() - first) % 2**64 < 2**63
    assert isinstance(timebase.ticks(), int)


def test_probe():
    counter = timebase.probe()
    assert counter.frequency_hz > 0
    assert 0 <= counter.quality <= 100
    assert len(counter.reasons) == len(counter.reason_names)
    assert (counter.quality == 100) == (not counter.reasons)
    assert counter.granularity_ticks >= 1


def test_errors_carry_text_and_code():
    with pytest.raises(timebase.TimebaseError) as error:
        check(-1)
    assert error.value.code == -1
    assert str(error.value)
    assert check(0) == 0
    assert check(3) == 3


def test_threads_may_read_at_the_same_time(clock):
    """The lock of the interpreter is released in C, so that these calls truly overlap."""

    def failures_of_a_round():
        failures = []

        def read():
            last = 0
            for _ in range(5_000):
                reading = clock.mono_ns()
                if reading < last:
                    failures.append((last, reading))
                last = reading

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return failures

    assert in_time(failures_of_a_round, wanted=10) == [[]] * 10


def test_one_wheel_serves_every_python():
    from importlib import metadata

    wheel = metadata.distribution("timebase").read_text("WHEEL")
    assert "Tag: py3-none-" in wheel
