# SPDX-License-Identifier: MIT
"""The loops in C that make trials, called as Python calls them."""

import os
import time

import pytest

from timebase.accuracy import cold, delay, session, trials
from timebase.api.errors import TimebaseError
from timebase.api.library import check, ffi, lib
from timebase.api.realtime import Realtime
from timebase.api.wait import Waiter
from timebase.bench.placement import pinned, quiet_cpu


@pytest.fixture
def waiter():
    with pinned(quiet_cpu()):
        yield Waiter()


def method(waiter, **members):
    handles = {"waiter": waiter.handle, "instrument": waiter.handle}
    return ffi.new("struct timebase_bench_method *", {**handles, **members})


def hit(asked, count=1):
    ahead = ffi.new("uint32_t[]", [5000] * count)
    out = ffi.new("struct timebase_bench_hit[]", count)
    return check(lib.timebase_bench_hits(asked, ahead, count, out))


@pytest.mark.parametrize("loop", trials.loop_numbers().values(), ids=trials.loop_numbers())
def test_loops_make_hits(waiter, loop):
    assert hit(method(waiter, loop=loop), 20) == 0


@pytest.mark.parametrize(
    "members",
    [
        {"loop": 99},
        {"loop": -9},
        {"loop": 0, "place": 64},
        {"loop": 0, "place": -1},
        {"loop": 1, "place": 1},
        {"loop": -1, "before": 1 << 20},
        {"loop": -1, "flags": 1 << 20},
    ],
    ids=str,
)
def test_methods_that_are_not_there_are_refused(waiter, members):
    with pytest.raises(TimebaseError):
        hit(method(waiter, **members))


def test_null_waiter_is_refused():
    with pytest.raises(TimebaseError):
        hit(ffi.new("struct timebase_bench_method *", {"loop": 0}))


@pytest.mark.parametrize("period_ns", [50_000, 3_000])  # of the shorter one, most are missed
@pytest.mark.parametrize("dispatcher", range(5))
def test_every_period_is_a_hit_or_missed(dispatcher, period_ns):
    with session.session(quiet_cpu(), 1) as (measuring, _):
        found = trials.dispatches(
            measuring, dispatcher, period_ns, 40, flags=lib.TIMEBASE_WAIT_SLEEP, load=0
        )
    assert len(found) + found.missed == 40
    assert found.missed >= 0
    assert (found.error_ns > -50_000).all()


def test_names_of_delays():
    assert [delay.name_of(ns) for ns in (10, 500, 1_000, 20_000, 10_000_000)] == [
        "delay_10ns",
        "delay_500ns",
        "delay_1us",
        "delay_20us",
        "delay_10ms",
    ]


def test_each_way_to_make_caches_cold_is_another():
    methods = cold._methods()
    assert len(set(methods.values())) == len(methods)


def test_a_signal_left_over_does_no_harm():
    """The timer's signal would end a process that has no handler for it any more."""
    with session.session(quiet_cpu(), 1) as (measuring, _):
        for _ in range(20):
            trials.dispatches(measuring, lib.TIMEBASE_BENCH_DISPATCH_SIGNAL, 5_000, 20)
    time.sleep(0.01)


@pytest.mark.parametrize(
    "members", [{"dispatcher": 5}, {"dispatcher": -1}, {"period_ns": 0}, {"load": 99}], ids=str
)
def test_schedules_that_make_no_sense_are_refused(waiter, members):
    usual = {"dispatcher": 0, "period_ns": 1000, "periods": 1, "load": 0}
    asked = {"waiter": waiter.handle, "instrument": waiter.handle, **usual, **members}
    schedule = ffi.new("struct timebase_bench_schedule *", asked)
    with pytest.raises(TimebaseError):
        check(lib.timebase_bench_dispatch(schedule, ffi.new("struct timebase_bench_hit[]", 1)))


def block_of(waiter, count, **members):
    """So many trials of one method, in C."""
    handles = {"waiter": waiter.handle, "instrument": waiter.handle}
    method = ffi.new("struct timebase_bench_method *", {**handles, **members})
    instrument = ffi.new("struct timebase_bench_instrument *", {"waiter": waiter.handle})
    ahead = ffi.new("uint32_t[]", [3000] * count)
    found, seen = (
        ffi.new("struct timebase_bench_hit[]", count),
        ffi.new("struct timebase_bench_block[]", 1),
    )
    asked = {"instrument": instrument,
        "methods": method, "method_count": 1, "blocks": 1, "block_trials": count,
             "ahead_ticks": ahead}  # fmt: skip
    turns = ffi.new("struct timebase_bench_turns *", asked)
    check(lib.timebase_bench_take_turns(turns, found, seen))
    return list(found), seen[0]


def test_delays_are_no_shorter_than_asked_by_the_kernel_and_the_loop(waiter):
    """But for what the readings can tell, and a step of the counter."""
    asked = {"form": lib.TIMEBASE_BENCH_DELAY, "delay_ns": 2000, "delay_ticks": 1000.0}
    for loop in (lib.TIMEBASE_BENCH_NAIVE, lib.TIMEBASE_BENCH_SLEEP):
        for found in block_of(waiter, 50, loop=loop, **asked)[0]:
            assert found.error_ticks > -found.bound_ticks
            assert found.added_ticks >= 0


def test_every_way_to_wait_is_tried_and_looked_around(waiter):
    for loop in (lib.TIMEBASE_BENCH_WAITER, lib.TIMEBASE_BENCH_NAIVE, lib.TIMEBASE_BENCH_PAPER):
        for form in (lib.TIMEBASE_BENCH_CALL, lib.TIMEBASE_BENCH_UNTIL):
            found, seen = block_of(waiter, 20, loop=loop, form=form)
            assert all(hit.bound_ticks > 0 for hit in found)
            assert min(seen.cycle_ticks_before, seen.add_ticks_after) > 0


@pytest.mark.parametrize(
    "members",
    [
        {"loop": 99},
        {"loop": -9},
        {"form": 7},
        {"loop": -3},  # nothing can be awaited, and not be called
        {"loop": -4},
        {"form": 2, "loop": 0},  # the paper has no delay
        {"form": 2, "delay_ticks": -1.0},
        {"form": 2, "delay_ticks": float("nan")},
        {"before": 1 << 30},
    ],
    ids=str,
)
def test_methods_that_make_no_sense_are_refused(waiter, members):
    with pytest.raises(TimebaseError):
        block_of(waiter, 1, **members)


def test_one_load_at_a_time():
    assert lib.timebase_bench_load_start(0, quiet_cpu()) == 0
    try:
        with pytest.raises(TimebaseError):
            check(lib.timebase_bench_load_start(0, quiet_cpu()))
    finally:
        lib.timebase_bench_load_stop()
    assert lib.timebase_bench_load_start(0, quiet_cpu()) == 0
    lib.timebase_bench_load_stop()


def test_the_load_leaves_the_cpu_to_a_realtime_thread():
    """Else who measures under it would wait for it."""
    with Realtime(quiet_cpu()):
        check(lib.timebase_bench_load_start(0, quiet_cpu()))
        try:
            threads = {int(thread) for thread in os.listdir("/proc/self/task")}
            ours = threading_native_id()
            policies = {os.sched_getscheduler(thread) for thread in threads - {ours}}
        finally:
            lib.timebase_bench_load_stop()
    assert policies == {os.SCHED_OTHER}


def threading_native_id():
    import threading

    return threading.get_native_id()


@pytest.mark.parametrize("load, cpu", [(99, 0), (-1, 0), (0, -1), (0, 100_000)])
def test_wrong_loads_are_refused(load, cpu):
    with pytest.raises(TimebaseError):
        check(lib.timebase_bench_load_start(load, cpu))
