# SPDX-License-Identifier: MIT
"""The loops in C (measure/accuracy.h), as functions that give Trials."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Callable

import numpy

from timebase.accuracy.extent import MOST_SLOWER
from timebase.accuracy.session import Session
from timebase.accuracy.summary import Trials
from timebase.api.library import check, ffi, lib

HIT = numpy.dtype(
    [("error", "f8"), ("bound", "f8"), ("late", "u4"), ("disturbance", "u4")], align=True
)
WAITER = lib.TIMEBASE_BENCH_WAITER


@dataclass(frozen=True)
class Method:
    """How a target is awaited: struct timebase_bench_method."""

    loop: int = WAITER
    place: int = 0
    flags: int = 0
    before: int = 0


def loop_numbers() -> dict[str, int]:
    """The polling loops of this processor by name; "paper" is always there."""
    found: dict[str, int] = {}
    while (name := lib.timebase_bench_loop_name(len(found))) != ffi.NULL:
        found[ffi.string(name).decode()] = len(found)
    return found


def hits(session: Session, method: Method, ahead_ticks: numpy.ndarray, waiter=None) -> Trials:
    """One trial for each target."""
    handle = (waiter or session.waiter).handle
    asked = ffi.new("struct timebase_bench_method *", {"waiter": handle, **asdict(method)})
    ahead = numpy.ascontiguousarray(ahead_ticks, numpy.uint32)
    pointer = ffi.cast("uint32_t *", ahead.ctypes.data)
    return _measured(
        session,
        len(ahead),
        lambda out: check(lib.timebase_bench_hits(asked, pointer, len(ahead), out)) or len(ahead),
    )


def delays(session: Session, delayer: int, delay_ns: int, count: int) -> Trials:
    """Delays, with what the measurement adds still in."""
    ticks = delay_ns / session.ns_per_tick
    return _measured(
        session,
        count,
        lambda out: (
            check(
                lib.timebase_bench_delays(
                    session.waiter.handle, delayer, delay_ns, ticks, count, out
                )
            )
            or count
        ),
    )


def dispatches(
    session: Session,
    dispatcher: int,
    period_ns: int,
    periods: int,
    *,
    waiter=None,
    flags: int = 0,
    load: int = 0,
) -> Trials:
    """A schedule of so many periods."""
    schedule = ffi.new(
        "struct timebase_bench_schedule *",
        {
            "waiter": (waiter or session.waiter).handle,
            "dispatcher": dispatcher,
            "flags": flags,
            "load": load,
            "periods": periods,
            "period_ns": period_ns,
        },
    )
    found = _measured(
        session, periods, lambda out: check(lib.timebase_bench_dispatch(schedule, out))
    )
    found.missed = periods - len(found)
    return found


def _measured(session: Session, most: int, call: Callable) -> Trials:
    """Times the call, which says how many of its `most` hits it made; rests afterwards."""
    out = numpy.zeros(most, HIT)
    pointer = ffi.cast("struct timebase_bench_hit *", out.ctypes.data)
    cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
    made = call(pointer)
    wall, cpu = time.perf_counter_ns() - wall, time.thread_time_ns() - cpu
    session.rest(cpu / 1e9)
    return Trials(
        out["error"][:made] * session.ns_per_tick,
        out["bound"][:made] * session.ns_per_tick,
        out["late"][:made] != 0,
        out["disturbance"][:made].copy(),
        cpu_ns=cpu,
        wall_ns=wall,
    )


def take_turns(
    session: Session,
    methods: dict[str, Callable[[], Trials]],
    rounds: int,
    expected_sec: float,
    progress: Callable[[float], None],
) -> dict[str, Trials]:
    """Runs each method once a round, in random order, so that disturbances of the machine meet all
    methods alike. On a machine that is far slower than expected there are fewer rounds."""
    found = {name: Trials() for name in methods}
    names = list(methods)
    for turn in bounded(rounds, expected_sec):
        session.random.shuffle(names)
        for name in names:
            found[name].add(methods[name]())
        progress((turn + 1) / rounds)
    return found


def bounded(rounds: int, expected_sec: float) -> Iterator[int]:
    """Numbers of rounds, but no more after a time that only a far slower machine needs."""
    start = time.perf_counter()
    for turn in range(rounds):
        yield turn
        if time.perf_counter() - start > MOST_SLOWER * expected_sec:
            return
