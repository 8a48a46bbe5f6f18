# SPDX-License-Identifier: MIT
"""A thousand events a second, asleep in between: the library's sleep then wait, and the kernel's
alone."""

from __future__ import annotations

from functools import partial
from typing import Callable

from timebase.accuracy.extent import Extent
from timebase.accuracy.figure import axis, exceedance, figure, panel, words
from timebase.accuracy.session import Session, new_waiter
from timebase.accuracy.summary import Trials, row
from timebase.accuracy.trials import dispatches, take_turns
from timebase.api.library import lib

PERIOD_NS = 1_000_000
OURS, PREPARED, KERNEL = "sleep_then_wait_1khz", "sleep_then_wait_1khz_prepared", "nanosleep_1khz"
FEWER = {OURS: 1, PREPARED: 4, KERNEL: 8}  # trials of the comparisons: one in so many


def run(session: Session, extent: Extent, progress) -> dict:
    turns = {name: _dispatcher(session, extent, name) for name in FEWER}
    found = take_turns(session, turns, extent.rounds, extent.seconds["sleep"], progress)
    rows = {name: row(name, trials, evidence=name != KERNEL) for name, trials in found.items()}
    return {"rows": list(rows.values()), "figures": [_picture(found, rows)]}


def _dispatcher(session: Session, extent: Extent, name: str) -> Callable[[], Trials]:
    """With the default margin, learnt from nothing. A processor that has slept has forgotten the
    event's function, so it is rehearsed; PREPARED shows what happens if it is only fetched."""
    way = (
        lib.TIMEBASE_BENCH_DISPATCH_NANOSLEEP
        if name == KERNEL
        else lib.TIMEBASE_BENCH_DISPATCH_WAITER
    )
    preparation = lib.TIMEBASE_WAIT_REHEARSE if name == OURS else lib.TIMEBASE_WAIT_PREPARE
    return partial(
        dispatches,
        session,
        way,
        PERIOD_NS,
        max(1, extent.sleeps // extent.rounds // FEWER[name]),
        waiter=new_waiter(),
        flags=lib.TIMEBASE_WAIT_SLEEP | preparation,
    )


def _picture(found: dict, rows: dict) -> dict:
    ours, kernel = rows[OURS], rows[KERNEL]
    title = (
        f"1,000 events a second for {100 * ours['cpu_share']:.2g} % of the CPU: 90 % within "
        f"{words(ours['p90_ns'])}, {100 * ours['late_share']:.2g} % late"
    )
    lines = [
        exceedance(f"clock_nanosleep: bias {words(kernel['bias_ns'])}", "kernel", found[KERNEL]),
        exceedance("sleep then wait, not rehearsed", "ours", found[PREPARED], dash="dashed"),
        exceedance("sleep then wait", "ours", found[OURS]),
        exceedance("the same, undisturbed", "ours", found[OURS].undisturbed(), dash="dotted"),
    ]
    axes = axis("|error − bias|, ns", "log"), axis("share as far off or more", "log")
    return figure("sleep", None, title, [panel(*axes, lines)])
