# SPDX-License-Identifier: MIT
"""A thousand events a second: asleep in between by the library's sleep then wait, or by the kernel
alone; and by a loop that never sleeps."""

from __future__ import annotations

from functools import partial
from typing import Callable

from timebase.accuracy.extent import Extent
from timebase.accuracy.figure import axis, exceedance, figure, known, panel, words
from timebase.accuracy.rows import rows_of
from timebase.accuracy.session import Session, new_waiter
from timebase.accuracy.summary import Trials
from timebase.accuracy.trials import dispatches, take_turns
from timebase.api.library import lib

PERIOD_NS = 1_000_000
SCENARIO = "1khz"
OURS, PREPARED = "sleep_then_wait_1khz", "sleep_then_wait_1khz_prepared"
KERNEL, LOOP = "nanosleep_1khz", "loop_1khz"
FEWER = {OURS: 1, PREPARED: 4, LOOP: 4, KERNEL: 8}  # trials of the comparisons: one in so many
WAYS = {KERNEL: lib.TIMEBASE_BENCH_DISPATCH_NANOSLEEP, LOOP: lib.TIMEBASE_BENCH_DISPATCH_LOOP}


def run(session: Session, extent: Extent, progress) -> dict:
    turns = {name: _dispatcher(session, extent, name) for name in FEWER}
    found = take_turns(session, turns, extent.rounds, extent.seconds["sleep"], progress)
    made = rows_of(session, SCENARIO, found, mute=tuple(WAYS))
    return {"rows": made, "figures": [_picture(found, {row["name"]: row for row in made})]}


def _dispatcher(session: Session, extent: Extent, name: str) -> Callable[[], Trials]:
    """With the default margin, learnt from nothing. A processor that has slept has forgotten the
    event's function, so it is rehearsed; PREPARED shows what happens if it is only fetched."""
    preparation = lib.TIMEBASE_WAIT_REHEARSE if name == OURS else lib.TIMEBASE_WAIT_PREPARE
    return partial(
        dispatches,
        session,
        WAYS.get(name, lib.TIMEBASE_BENCH_DISPATCH_WAITER),
        PERIOD_NS,
        max(1, extent.sleeps // extent.rounds // FEWER[name]),
        waiter=new_waiter(),
        flags=lib.TIMEBASE_WAIT_SLEEP | preparation,
    )


def _picture(found: dict, rows: dict) -> dict:
    ours = rows[OURS]
    title = (
        f"1,000 events a second for {100 * ours['cpu_share']:.2g} % of the CPU: 90 % begin within "
        f"{known(ours['raw_p90_ns'])} of their tick, {100 * ours['late_share']:.2g} % late"
    )
    lines = [
        exceedance("clock_nanosleep", "kernel", found[KERNEL]),
        exceedance("the naive loop, never asleep", "article", found[LOOP]),
        exceedance("sleep then wait, not rehearsed", "ours", found[PREPARED], dash="dashed"),
        exceedance("sleep then wait", "ours", found[OURS]),
        exceedance("the same, undisturbed", "ours", found[OURS].undisturbed(), dash="dotted"),
    ]
    axes = axis("|error|, ns", "log"), axis("share as far off or more", "log")
    biases = ", ".join(
        f"{label} {words(rows[name]['bias_ns'])}"
        for label, name in (("clock_nanosleep", KERNEL), ("the loop", LOOP), ("ours", OURS))
    )
    return figure("sleep", None, title, [panel(*axes, lines)], f"Bias: {biases}.")
