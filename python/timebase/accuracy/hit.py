# SPDX-License-Identifier: MIT
"""The paper's loop beside the library's waits, warm: distribution of all errors."""

from __future__ import annotations

from functools import partial

import numpy

from timebase.accuracy.extent import Extent
from timebase.accuracy.figure import axis, exceedance, figure, histogram, panel, words
from timebase.accuracy.session import Session, new_waiter
from timebase.accuracy.summary import quantile, row
from timebase.accuracy.trials import Method, hits, take_turns
from timebase.api.library import lib

AHEAD_NS = (1500, 4000)
BIN_NS = 0.5


def run(session: Session, extent: Extent, progress) -> dict:
    block = max(1, extent.hits // extent.rounds)

    def one(method: Method, waiter):
        return hits(session, method, session.random_ticks(*AHEAD_NS, block), waiter)

    methods = {
        "paper": Method(loop=lib.TIMEBASE_BENCH_PAPER),
        "plain": Method(flags=lib.TIMEBASE_WAIT_PLAIN),
        "exact": Method(),
        "exact_never_early": Method(flags=lib.TIMEBASE_WAIT_NEVER_EARLY),
    }
    # each with a waiter of its own: one way must not learn from the errors of another
    turns = {name: partial(one, method, new_waiter()) for name, method in methods.items()}
    found = take_turns(session, turns, extent.rounds, extent.seconds["hit"], progress)
    rows = [row(name, trials, evidence=name != "paper") for name, trials in found.items()]
    rows.insert(3, row("exact_undisturbed", found["exact"].undisturbed()))
    return {"rows": rows, "figures": [_distribution(found, {r["name"]: r for r in rows})]}


def _distribution(found: dict, rows: dict) -> dict:
    plain, exact = rows["plain"], rows["exact"]
    title = (
        f"Half of the exact waits are within {words(exact['p50_ns'])} and 99 % within "
        f"{words(exact['p99_ns'])}; of the polling loop {words(plain['p50_ns'])} and "
        f"{words(plain['p99_ns'])}"
    )
    raw = [found[name].error_ns for name in ("paper", "plain", "exact")]
    low = min(quantile(errors, 0.002) for errors in raw)
    high = max(quantile(errors, 0.97) for errors in raw)
    edges = numpy.arange(numpy.floor(low) - 2, numpy.ceil(high) + 3, BIN_NS)
    bars = [
        histogram("the paper's loop", "article", raw[0], edges),
        histogram("the same, its lateness compensated", "article", raw[1], edges, "dashed"),
        histogram("exact wait", "ours", raw[2], edges),
    ]
    tails = [
        exceedance("loop, compensated", "article", found["plain"], dash="dashed"),
        exceedance("exact", "ours", found["exact"]),
        exceedance("exact, undisturbed", "ours", found["exact"].undisturbed(), dash="dotted"),
    ]
    panels = [
        panel(axis("error, ns"), axis(f"share of waits per {BIN_NS} ns"), bars),
        panel(axis("|error − bias|, ns", "log"), axis("share as far off or more", "log"), tails),
    ]
    return figure("histogram", None, title, panels)
