# SPDX-License-Identifier: MIT
"""The errors of each unit as a histogram, both axes logarithmic, SVG or PNG."""

from __future__ import annotations

import io

import matplotlib
from matplotlib.figure import Figure

WIDTH_IN, HEIGHT_IN = 7.0, 1.7  # the height of one unit
KINDS = ("svg", "png")
COLOURS = {"before": "#c2571a", "after": "#1f6f8b"}
STYLE = {
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def draw(document: dict, kind: str) -> bytes:
    units = [unit for unit in document["units"] if unit["histogram"]]
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": document["calendar"]["file"]}):
        height = HEIGHT_IN * max(1, len(units)) + 0.6
        figure = Figure(figsize=(WIDTH_IN, height), layout="constrained")
        figure.suptitle(_title(document), fontsize=10)
        if units:
            all_axes = figure.subplots(len(units), 1, sharex=True, squeeze=False)[:, 0]
            for axes, unit in zip(all_axes, units):
                _draw_unit(axes, unit)
            all_axes[-1].set_xlabel("|begin - target|, ns")
            all_axes[0].legend(loc="upper right")
        out = io.BytesIO()
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(out, format=kind, dpi=150, metadata=metadata)
        return out.getvalue()


def _title(document: dict) -> str:
    machine = document["machine"]
    name = machine["processor"] or machine["architecture"]
    return f"{document['calendar']['file']} on {name}, CPU {document['calendar']['cpu']}"


def _mark(axes, value: float, name: str) -> None:
    """A dotted line with its name at the top."""
    axes.axvline(value, color="#444444", lw=0.8, ls=":")
    axes.annotate(
        name,
        (value, 1),
        xycoords=("data", "axes fraction"),
        xytext=(2, -2),
        textcoords="offset points",
        va="top",
        fontsize=7,
        color="#444444",
    )


def _draw_unit(axes, unit: dict) -> None:
    buckets = unit["histogram"]
    edges = [bucket["from_ns"] for bucket in buckets] + [buckets[-1]["to_ns"]]
    for side in ("before", "after"):
        counts = [bucket[side] for bucket in buckets]
        if any(counts):
            label = f"{side} the target"
            axes.stairs(counts, edges, color=COLOURS[side], label=label, fill=True, alpha=0.6)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.7)
    for share in ("p50", "p99"):
        if (value := unit["error_ns"][share]) is not None:
            _mark(axes, max(value, edges[0]), share)
    axes.set_title(f"{unit['name']}: {unit['released']:,} releases", loc="left", fontsize=9)
    axes.set_ylabel("releases")
