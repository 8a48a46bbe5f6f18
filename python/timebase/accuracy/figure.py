# SPDX-License-Identifier: MIT
"""Figures as plain data: what is in the JSON, and all that timebase.report.panels draws from.

A figure has panels one above the other; a panel has axes and series; a series has a role, which
gives its colour, and a kind:

    line, dots   y against x
    steps        a histogram: y is the share of the bin that begins at x
    range        one for each x, a place on an axis of names: low to high, a mark at y
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from timebase.accuracy.summary import Trials, digits, median
from timebase.bench.percentile import DASH

MOST_POINTS = 60
LEAST_NS = 0.1  # less is nothing that readings could tell: not drawn on logarithmic axes


def figure(id: str, paper: str | None, title: str, panels: list[dict], note: str = "") -> dict:
    """`paper`: the number of the paper's figure that it repeats; `title` says what was found. A
    panel without a point is left out."""
    drawn = [panel for panel in panels if panel["series"]]
    if panels and not drawn:
        note = f"Too few trials to draw anything. {note}".rstrip()
    return {"id": id, "paper": paper, "title": title, "note": note, "panels": drawn}


def panel(x: dict, y: dict, series: list[dict], title: str = "") -> dict:
    return {"title": title, "x": x, "y": y, "series": [one for one in series if one["x"]]}


def axis(label: str, scale: str = "linear", names: Sequence[str] = (), limits=None) -> dict:
    return {"label": label, "scale": scale, "names": list(names), "limits": limits}


def series(label: str, role: str, kind: str, x, y, dash: str = "solid", **more) -> dict:
    """dash: solid, dashed or dotted. more: low and high of kind `range`."""
    rounded = {name: [digits(v) for v in values] for name, values in {"y": y, **more}.items()}
    places = [float(f"{place:.6g}") for place in x]  # neighbours must not fall together
    return {"label": label, "role": role, "kind": kind, "dash": dash, "x": places, **rounded}


def histogram(label: str, role: str, values: numpy.ndarray, edges: numpy.ndarray, dash="solid"):
    """Shares of all values. A value outside of the edges is counted, but not drawn."""
    counts, _ = numpy.histogram(values, edges)
    return series(label, role, "steps", edges[:-1], counts / max(1, len(values)), dash)


def exceedance(
    label: str, role: str, trials: Trials, dash="solid", about_median: bool = False
) -> dict:
    """The share of trials whose |error| is x or more, down to the single worst one. About the
    median it is their spread."""
    centre = median(trials.error_ns) if about_median else 0.0
    sizes = numpy.sort(numpy.abs(trials.error_ns - centre))
    if not len(sizes):
        return series(label, role, "line", [], [], dash)
    ranks = numpy.unique(numpy.geomspace(1, len(sizes), MOST_POINTS).round().astype(int))[::-1]
    x, y = sizes[-ranks], ranks / len(sizes)
    first = min(int(numpy.searchsorted(x, LEAST_NS)), len(x) - 1)
    return series(label, role, "line", x[first:], y[first:], dash)


def ranges(
    label: str,
    role: str,
    places: Sequence[float],
    rows: Sequence[dict],
    high: str = "raw_p99_ns",
) -> dict:
    """Medians of |error|, and from them to a higher percentile, of rows of the JSON. A row of too
    few trials for a median is left out; one of too few for the other is a dot."""
    there = [(place, row) for place, row in zip(places, rows) if row["raw_p50_ns"] is not None]
    middles = [row["raw_p50_ns"] for _, row in there]
    highs = [row["raw_p50_ns"] if row[high] is None else row[high] for _, row in there]
    places = [place for place, _ in there]
    return series(label, role, "range", places, middles, low=middles, high=highs)


def known(ns: float | None) -> str:
    """Of a percentile that there may not be."""
    return DASH if ns is None else words(ns)


def carried(*rows: dict, most: int = 99) -> int:
    """The highest percentile of |error|, `most` at most, that all of the rows can carry; else 50."""
    return next(
        (
            share
            for share in (99, 95, 90)
            if share <= most and all(row[f"raw_p{share}_ns"] is not None for row in rows)
        ),
        50,
    )


def words(ns: float) -> str:
    """0.41 ns, 17 µs: two digits, for titles."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(ns) >= 0.995 * unit:
            return f"{_two(ns / unit)} {name}"
    return f"{_two(ns)} ns"


def percent(share: float) -> str:
    """0.41, 17, 100: of a share, without the sign."""
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"


def _two(value: float) -> str:
    size = abs(value)
    if size >= 9.95 or size < 0.005:
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 0.995 else f"{value:.2f}"
