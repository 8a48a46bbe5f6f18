# SPDX-License-Identifier: MIT
"""Cold caches: what they do to the wait, and to the function that begins at its end."""

from __future__ import annotations

from functools import partial

from timebase.accuracy.extent import Extent
from timebase.accuracy.figure import axis, figure, panel, ranges, words
from timebase.accuracy.session import Session, new_waiter
from timebase.accuracy.summary import median, row
from timebase.accuracy.trials import Method, hits, take_turns
from timebase.api.library import lib

AHEAD_NS = (12_000, 14_000)  # time to prepare, too
WARM = "event_warm"


def _methods() -> dict[str, Method]:
    """The measuring code is always warm. The event's function is warm or cold."""
    prepare, rehearse = lib.TIMEBASE_WAIT_PREPARE, lib.TIMEBASE_WAIT_REHEARSE
    flush = lib.TIMEBASE_BENCH_FLUSH_EVENT
    walk = lib.TIMEBASE_BENCH_WALK | lib.TIMEBASE_BENCH_TOUCH_INSTRUMENT
    touched = walk | lib.TIMEBASE_BENCH_TOUCH_EVENT
    methods = {
        "paper_cold": Method(loop=lib.TIMEBASE_BENCH_PAPER, before=touched),
        "exact_cold_unprepared": Method(before=touched),
        "exact_cold": Method(before=touched, flags=prepare),
        WARM: Method(),
        "event_flushed": Method(before=flush),
        "event_flushed_prepared": Method(before=flush, flags=prepare),
        "event_flushed_rehearsed": Method(before=flush, flags=rehearse),
        "event_cold": Method(before=walk),
        "event_cold_prepared": Method(before=walk, flags=prepare),
        "event_cold_rehearsed": Method(before=walk, flags=rehearse),
    }
    possible = lib.timebase_bench_before_possible()
    return {name: method for name, method in methods.items() if not method.before & ~possible}


def run(session: Session, extent: Extent, progress) -> dict:
    block = max(1, extent.cold // extent.rounds)

    def one(method: Method, waiter):
        return hits(session, method, session.random_ticks(*AHEAD_NS, block), waiter)

    # each with a waiter of its own: one way must not learn from the errors of another
    turns = {name: partial(one, method, new_waiter()) for name, method in _methods().items()}
    found = take_turns(session, turns, extent.rounds, extent.seconds["cold"], progress)
    # The constant part of a cold cache's error counts: a program cannot take it off as a bias,
    # since it does not know whether the cache will be cold.
    warm_ns = median(found[WARM].error_ns)
    rows = {
        name: row(name, trials, evidence=False)
        if name == "paper_cold"
        else row(name, trials, bias_ns=warm_ns)
        for name, trials in found.items()
    }
    return {"rows": list(rows.values()), "figures": [_wait(rows), _event(rows)]}


def _wait(rows: dict) -> dict:
    names = {
        "paper_cold": "the paper's loop",
        "exact_cold_unprepared": "exact",
        "exact_cold": "exact, prepared",
        WARM: "exact, caches warm",
    }
    title = (
        f"With cold caches 99 % of exact waits are within {words(rows['exact_cold']['p99_ns'])} "
        f"if prepared, {words(rows['exact_cold_unprepared']['p99_ns'])} if not"
    )
    note = (
        "Data of twice the second-level cache and 256 KiB of code are walked over before each "
        "trial; the event's function is made warm again."
    )
    return figure("cold", None, title, [_ranges(rows, names)], note)


def _event(rows: dict) -> dict:
    names = {
        WARM: "warm",
        "event_flushed": "its line flushed",
        "event_flushed_prepared": "flushed, prefetched",
        "event_flushed_rehearsed": "flushed, rehearsed",
        "event_cold": "all caches cold",
        "event_cold_prepared": "cold, prefetched",
        "event_cold_rehearsed": "cold, rehearsed",
    }
    title = (
        f"A function whose code is cold begins up to {words(rows['event_cold']['p99_ns'])} off, "
        f"rehearsed {words(rows['event_cold_rehearsed']['p99_ns'])} (99 %)"
    )
    return figure("event", None, title, [_ranges(rows, names)])


def _ranges(rows: dict, names: dict[str, str]) -> dict:
    there = [name for name in names if name in rows]
    places: dict[str, list[int]] = {"article": [], "ours": []}
    for place, name in enumerate(there):
        places["article" if name.startswith("paper") else "ours"].append(place)
    drawn = [
        ranges("", role, of_role, [rows[there[place]] for place in of_role])
        for role, of_role in places.items()
    ]
    return panel(
        axis("|error|, ns: median (dot) to 99th percentile", "log"),
        axis("", names=[names[name] for name in there]),
        drawn,
    )
