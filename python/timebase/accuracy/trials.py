# SPDX-License-Identifier: MIT
"""The loops in C (measure/accuracy.h), as functions that give Trials."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Callable

import numpy

from timebase.accuracy.core import LOOK, around, look_once
from timebase.accuracy.extent import MOST_SLOWER
from timebase.accuracy.session import Session
from timebase.accuracy.summary import Trials, joined
from timebase.api.library import check, ffi, lib

HIT = numpy.dtype(
    [
        *((name, "f8") for name in ("error", "bound", "added")),
        ("late", "u4"),
        ("disturbance", "u4"),
        ("mechanism", "i4"),
        ("reserved", "u4"),
    ],
    align=True,
)
WAITER = lib.TIMEBASE_BENCH_WAITER
AROUND = 7  # neighbours on either side: enough to leave out outliers, near enough to follow


@dataclass(frozen=True)
class Method:
    """How a target is awaited: struct timebase_bench_method, but for the waiter."""

    loop: int = WAITER
    place: int = 0
    form: int = lib.TIMEBASE_BENCH_CALL
    flags: int = 0
    before: int = 0
    delay_ns: int = 0

    def fill(self, session: Session, waiter) -> dict:
        ticks = self.delay_ns / session.ns_per_tick
        return {
            "waiter": waiter.handle,
            "instrument": session.instrument.waiter,
            **asdict(self),
            "delay_ticks": ticks,
        }


@dataclass(frozen=True)
class Blocks:
    """How methods take turns: so many blocks of each, of so many trials."""

    count: int
    trials: int
    state: int = lib.TIMEBASE_BENCH_STATE_AS_IS
    idle_ns: int = 0


def loop_numbers() -> dict[str, int]:
    """The polling loops of this processor by name; "paper" is always there."""
    found: dict[str, int] = {}
    while (name := lib.timebase_bench_loop_name(len(found))) != ffi.NULL:
        found[ffi.string(name).decode()] = len(found)
    return found


def hits(session: Session, method: Method, ahead_ticks: numpy.ndarray, waiter=None) -> Trials:
    """One trial for each target."""
    filled = method.fill(session, waiter or session.waiter)
    asked = ffi.new("struct timebase_bench_method *", filled)
    ahead = numpy.ascontiguousarray(ahead_ticks, numpy.uint32)
    pointer = ffi.cast("uint32_t *", ahead.ctypes.data)
    return _measured(
        session,
        len(ahead),
        lambda out: check(lib.timebase_bench_hits(asked, pointer, len(ahead), out)) or len(ahead),
    )


def turns(
    session: Session, methods: dict[str, tuple[Method, object]], ahead_ns: tuple, blocks: Blocks
) -> dict[str, Trials]:
    """One slice of a scenario: every method, with its waiter, in blocks of its own. All of them
    share the CPU's time, and what is said of it."""
    filled = [method.fill(session, waiter) for method, waiter in methods.values()]
    asked = ffi.new("struct timebase_bench_method[]", filled)
    ahead = session.random_ticks(*ahead_ns, blocks.count * blocks.trials)
    shape = (len(methods), blocks.count)
    out, looks = numpy.zeros((*shape, blocks.trials), HIT), numpy.zeros(shape, LOOK)
    described = ffi.new(
        "struct timebase_bench_turns *",
        {
            "instrument": session.instrument,
            "methods": asked,
            "method_count": len(methods),
            "blocks": blocks.count,
            "block_trials": blocks.trials,
            "state": blocks.state,
            "idle_ns": blocks.idle_ns,
            "seed": int(session.random.integers(2**63)),
            "ahead_ticks": ffi.cast("uint32_t *", ahead.ctypes.data),
        },
    )
    pointers = _hits_pointer(out), ffi.cast("struct timebase_bench_block *", looks.ctypes.data)
    cpu, wall = _timed(session, lambda: check(lib.timebase_bench_take_turns(described, *pointers)))
    session.core.learn(looks.ravel())
    block = numpy.repeat(numpy.arange(blocks.count), blocks.trials)
    return {
        name: _trials(session, out[place].ravel(), block, looks[place], cpu, wall)
        for place, name in enumerate(methods)
    }


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
            "instrument": session.instrument.waiter,
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


def without_added(error_ns: numpy.ndarray, added_ns: numpy.ndarray) -> numpy.ndarray:
    """What the readings around a delay add is taken off: it follows the core's clock, so it is the
    median of those that were measured around this trial."""
    if not len(added_ns):
        return error_ns
    padded = numpy.pad(added_ns, AROUND, mode="edge")
    near = numpy.lib.stride_tricks.sliding_window_view(padded, 2 * AROUND + 1)
    return error_ns - numpy.median(near, axis=1)


def _hits_pointer(out: numpy.ndarray):
    return ffi.cast("struct timebase_bench_hit *", out.ctypes.data)


def _timed(session: Session, call: Callable[[], object]) -> tuple[int, int]:
    """CPU time and time of the call; rests afterwards."""
    cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
    call()
    wall, cpu = time.perf_counter_ns() - wall, time.thread_time_ns() - cpu
    session.rest(cpu / 1e9)
    return cpu, wall


def _measured(session: Session, most: int, call: Callable) -> Trials:
    """One block: times the call, which says how many of its `most` hits it made."""
    out, made = numpy.zeros(most, HIT), 0

    def measure():
        nonlocal made
        made = call(_hits_pointer(out))

    check(lib.timebase_bench_instrument_follow(session.instrument, ffi.NULL))
    before = look_once()
    cpu, wall = _timed(session, measure)
    looks = around(before, look_once())
    session.core.learn(looks)
    return _trials(session, out[:made], numpy.zeros(made, int), looks, cpu, wall)


def _trials(session: Session, out, block, looks, cpu: int, wall: int) -> Trials:
    added = out["added"] * session.ns_per_tick
    error = out["error"] * session.ns_per_tick
    return Trials(
        error_ns=without_added(error, added) if added.any() else error,
        bound_ns=out["bound"] * session.ns_per_tick,
        late=out["late"] != 0,
        disturbance=out["disturbance"].copy(),
        mechanism=out["mechanism"].copy(),
        block=block,
        looks=looks,
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
    found: dict[str, list[Trials]] = {name: [] for name in methods}
    names = list(methods)
    for turn in bounded(rounds, expected_sec):
        session.random.shuffle(names)
        for name in names:
            found[name].append(methods[name]())
        progress((turn + 1) / rounds)
    return {name: joined(parts) for name, parts in found.items()}


def bounded(rounds: int, expected_sec: float) -> Iterator[int]:
    """Numbers of rounds, but no more after a time that only a far slower machine needs."""
    start = time.perf_counter()
    for turn in range(rounds):
        yield turn
        if time.perf_counter() - start > MOST_SLOWER * expected_sec:
            return
