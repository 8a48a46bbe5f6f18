# SPDX-License-Identifier: MIT
"""The naive loop beside the library's waits, warm: distribution of all errors."""

from __future__ import annotations

import numpy

from timebase.accuracy.extent import Extent
from timebase.accuracy.figure import (
    axis,
    carried,
    exceedance,
    figure,
    histogram,
    known,
    panel,
    words,
)
from timebase.accuracy.rows import rows_of
from timebase.accuracy.scenario import EXACT, LOOP, MUTE, NEAR, WATCH, near_methods
from timebase.accuracy.scenario import run as run_scenario
from timebase.accuracy.session import Session
from timebase.accuracy.summary import quantile

FINEST_BIN_NS = 0.5
MOST_BINS = 240  # a disturbed machine's errors reach microseconds


def run(session: Session, extent: Extent, progress) -> dict:
    found = run_scenario(
        session, extent, NEAR, near_methods(), extent.hits, extent.seconds["hit"], progress
    )
    rows = rows_of(session, NEAR.id, found, mute=MUTE, by_sibling=True)
    return {"rows": rows, "figures": [_distribution(found, {r["name"]: r for r in rows})]}


def bins(errors: list[numpy.ndarray]) -> tuple[numpy.ndarray, float]:
    """Edges around most of all errors, and the width of a bin: a multiple of the finest, so that
    there are never more of them than a picture can show."""
    low = min(quantile(error, 0.002) for error in errors)
    high = max(quantile(error, 0.97) for error in errors)
    first, last = numpy.floor(low) - 2, numpy.ceil(high) + 3
    width = FINEST_BIN_NS * max(1.0, numpy.ceil((last - first) / FINEST_BIN_NS / MOST_BINS))
    count = int(numpy.ceil((last - first) / width))
    return first + width * numpy.arange(count + 1), float(width)


def _distribution(found: dict, rows: dict) -> dict:
    loop, exact = rows[LOOP], rows[EXACT]
    share = carried(loop, exact)
    high = f"raw_p{share}_ns"
    title = (
        f"Half of the exact waits begin within {known(exact['raw_p50_ns'])} of the tick, {share} % "
        f"within {known(exact[high])}; after the naive loop within {known(loop['raw_p50_ns'])} and "
        f"{known(loop[high])}"
    )
    drawn = {"the naive loop": (LOOP, "article"), "exact wait": (EXACT, "ours")}
    edges, width = bins([found[name].error_ns for name, _ in drawn.values()])
    bars = [
        histogram(label, role, found[name].error_ns, edges) for label, (name, role) in drawn.items()
    ]
    raw = [
        exceedance("the naive loop", "article", found[LOOP]),
        exceedance("exact wait", "ours", found[EXACT]),
        exceedance("exact, undisturbed", "ours", found[EXACT].undisturbed(), dash="dotted"),
    ]
    spread = [
        exceedance("the naive loop", "article", found[LOOP], about_median=True),
        exceedance("exact wait", "ours", found[EXACT], about_median=True),
        exceedance("the stopwatch alone", "muted", found[WATCH], about_median=True),
    ]
    panels = [
        panel(axis("error, ns"), axis(f"share of waits per {width:g} ns"), bars),
        panel(axis("|error|, ns", "log"), axis("share as far off or more", "log"), raw),
        panel(axis("|error − bias|, ns", "log"), axis("share as far off or more", "log"), spread),
    ]
    note = (
        f"Bias, the median error: of the loop {words(loop['bias_ns'])}, of the exact wait "
        f"{words(exact['bias_ns'])}. n = {exact['trials']:,} each."
    )
    return figure("histogram", None, title, panels, note)
