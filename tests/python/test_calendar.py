# SPDX-License-Identifier: MIT
"""The calendar from Python: what C is given stays alive, and what it finds comes back."""

import gc
import sys
import threading
import time
import weakref

import pytest

from timebase import Calendar, CFunction, NotAdmittedError, Unit, Waiter, WaitFlag, learn_tick
from timebase.api.calendar_result import (
    ProblemKind,
    Release,
    ReleaseBit,
    TickComb,
    UnitResult,
)
from timebase.api.library import ffi, lib

MS = 1_000_000
NOTHING = CFunction(int(ffi.cast("uintptr_t", ffi.addressof(lib, "timebase_nothing"))))


@pytest.fixture(scope="module")
def waiter():
    return Waiter()


@pytest.mark.parametrize(
    "record, structure",
    [
        (Release, "timebase_release"),
        (UnitResult, "timebase_unit_result"),
        (TickComb, "timebase_tick_comb"),
    ],
)
def test_records_have_every_member_of_the_header(record, structure):
    members = {name for name, _ in ffi.typeof(f"struct {structure}").fields} - {"unused"}
    assert set(record.__dataclass_fields__) == members


def test_unit_has_every_member_of_the_header():
    members = {name for name, _ in ffi.typeof("struct timebase_unit").fields}
    assert set(Unit.__dataclass_fields__) == members - {"argument", "unused"}


def counted(results):
    return [result.released + result.skipped for result in results]


def test_every_release_is_run_or_skipped(waiter):
    units = [
        Unit("a", NOTHING, duration_ns=1000, period_ns=MS, releases=20),
        Unit("b", NOTHING, duration_ns=1000, ready_ns=MS // 2, period_ns=2 * MS, releases=10),
        Unit("once", NOTHING, duration_ns=1000, ready_ns=MS // 4),
    ]
    calendar = Calendar(units, log_capacity=64)
    results = calendar.run(waiter)
    assert counted(results) == [20, 10, 1]
    log = []
    while part := calendar.take(3):
        assert len(part) <= 3
        log += part
    assert sum(release.count for release in log) == 31
    assert calendar.lost == 0
    for number, result in enumerate(results):
        of_unit = [release for release in log if release.unit == number]
        numbers = [release.number for release in of_unit]
        assert numbers == sorted(set(numbers))
        assert sum(result.errors) == result.released
        late = sum(bool(release.outcome & ReleaseBit.LATE) for release in of_unit)
        assert late == result.late


def test_quantiles_grow_with_the_share(waiter):
    (result,) = Calendar([Unit("a", NOTHING, duration_ns=1000, period_ns=MS, releases=50)]).run(
        waiter
    )
    found = [result.error_quantile_ns(share) for share in (0, 0.5, 0.9, 0.99, 1)]
    if result.released:
        assert found == sorted(found)
        assert found[-1] * 1.0001 >= min(abs(result.error_max_ns), found[-1])
    assert UnitResult(**{**vars(result), "errors": (0,) * 160}).error_quantile_ns(0.5) is None


def test_full_log_counts_what_it_loses(waiter):
    calendar = Calendar(
        [Unit("a", NOTHING, duration_ns=100, period_ns=MS // 10, releases=40)], log_capacity=3
    )
    results = calendar.run(waiter)
    kept = calendar.take()
    assert counted(results) == [40]
    # The next power of two. On a busy machine many releases are skipped, and one entry tells it.
    assert len(kept) == 4 or sum(release.count for release in kept) == 40
    assert (calendar.lost > 0) == (sum(release.count for release in kept) < 40)


def test_python_actions_are_called(waiter):
    calls = []
    units = [
        Unit("a", lambda: calls.append("a"), duration_ns=MS, period_ns=100 * MS, releases=3),
        Unit("b", lambda: calls.append("b"), duration_ns=MS, ready_ns=50 * MS),
    ]
    results = Calendar(units).run(waiter)
    assert counted(results) == [3, 1]
    assert calls.count("a") == results[0].released
    assert calls.count("b") == results[1].released


def test_nothing_that_c_needs_is_collected(waiter):
    """Names, callbacks and units are made of what nobody else holds, and the heap is stirred."""
    calls = []

    def build():
        units = [
            Unit(
                "n" * 20 + str(i), lambda i=i: calls.append(i), duration_ns=10_000, ready_ns=i * MS
            )
            for i in range(20)
        ]
        return Calendar(units, log_capacity=64)

    calendar = build()
    calendar.units.clear()
    gc.collect()
    stirred = [ffi.new("char[]", b"x" * size) for size in range(1, 400)]
    del stirred
    calendar.units.extend([None] * 20)  # only counted from here on
    calendar.run(waiter)
    run = [r.unit for r in calendar.take() if not r.outcome & ReleaseBit.SKIPPED]
    assert calls == run


def test_what_a_c_function_needs_lives_as_long_as_the_calendar():
    class Kept:
        pass

    kept = Kept()
    seen = weakref.ref(kept)
    calendar = Calendar([Unit("a", CFunction(NOTHING.address, keep=kept), duration_ns=1000)])
    calendar.units.clear()
    del kept
    gc.collect()
    assert seen() is not None
    del calendar
    gc.collect()
    assert seen() is None


def test_names_of_units_are_in_the_problems():
    units = [Unit(name, NOTHING, duration_ns=MS, period_ns=2 * MS) for name in ("first", "other")]
    calendar = Calendar(units)
    gc.collect()
    stirred = [ffi.new("char[]", b"x" * 5) for _ in range(10_000)]  # into places that were freed
    assert stirred
    problems = calendar.admit()
    assert problems[0].kind == ProblemKind.OVERLAP
    assert "first" in problems[0].text and "other" in problems[0].text
    assert not problems[0].warning


def test_what_is_not_admitted_is_not_run(waiter):
    calls = []
    units = [Unit("long", lambda: calls.append(1), duration_ns=2 * MS, period_ns=MS)]
    with pytest.raises(NotAdmittedError) as refusal:
        Calendar(units).run(waiter)
    assert calls == []
    assert any(not problem.warning for problem in refusal.value.problems)
    assert "long" in str(refusal.value)


def test_empty_calendar_is_not_admitted(waiter):
    with pytest.raises(NotAdmittedError):
        Calendar([]).run(waiter)


def test_exception_stops_the_run_and_comes_out(waiter):
    calls = []

    def fail():
        calls.append(1)
        raise KeyError("from within")

    units = [Unit("a", fail, duration_ns=MS, period_ns=20 * MS, releases=50)]
    with pytest.raises(KeyError, match="from within"):
        Calendar(units).run(waiter)
    assert len(calls) == 1


def test_stop_from_another_thread_ends_it(waiter):
    calendar = Calendar([Unit("a", NOTHING, 1000, period_ns=MS, flags=int(WaitFlag.SLEEP))])
    timer = threading.Timer(0.05, calendar.stop)
    timer.start()
    calendar.run(waiter)
    timer.join()


def test_stopped_before_it_begins(waiter):
    calendar = Calendar([Unit("a", NOTHING, 1000, period_ns=MS)])
    calendar.stop()
    assert counted(calendar.run(waiter)) == [0]


def test_other_threads_go_on_during_a_run(waiter):
    counts = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(3600)  # the other has its turn when the run gives it, and only then
    try:
        for _ in range(1000):  # this machine may be busy with other things
            before = counts[0]
            Calendar([Unit("a", NOTHING, 1000, period_ns=10 * MS, releases=20)]).run(waiter)
            after = counts[0]
            if after > before:
                break
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()
    assert after > before


def test_start_that_has_passed_is_an_error(waiter):
    from timebase import TimebaseError

    with pytest.raises(TimebaseError, match="start had passed"):
        Calendar([Unit("a", NOTHING, 1000)], start_ns=1).run(waiter)


def test_action_needs_a_waiter_of_its_own(waiter):
    unit = Unit("a", lambda: waiter.delay(5000), 10**8, releases=1)  # no deadline: never skipped
    with pytest.raises(RuntimeError, match="of its own"):
        Calendar([unit]).run(waiter)
    assert Calendar([Unit("a", NOTHING, 1000)]).run(waiter)[0].released == 1


@pytest.mark.parametrize(
    "change, error",
    [
        ({"duration_ns": -1}, ValueError),
        ({"duration_ns": 2**61}, ValueError),
        ({"duration_ns": 1.5}, TypeError),
        ({"period_ns": "1ms"}, TypeError),
        ({"ready_ns": True}, TypeError),
        ({"releases": -1}, ValueError),
        ({"action": 3}, TypeError),
        ({"action": print, "timeout_ns": 5}, ValueError),
    ],
)
def test_unit_that_cannot_be_is_refused(change, error):
    fields = {"name": "a", "action": NOTHING, "duration_ns": 1000, **change}
    with pytest.raises(error):
        Calendar([Unit(**fields)])


@pytest.mark.parametrize("watch", [1, 10**11])
def test_tick_is_watched_for_within_limits(watch):
    with pytest.raises(ValueError):
        learn_tick(watch)


def test_tick_comb_is_one_or_none():
    comb = learn_tick(20 * MS)
    assert comb.period_ns >= 0
    assert 0 <= comb.phase_ns < max(1, comb.period_ns)
