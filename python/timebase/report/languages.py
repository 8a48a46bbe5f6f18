# SPDX-License-Identifier: MIT
"""What a reading costs in each language: the table of `make languages` as a section of the report.

The report measures by itself only what needs no other toolchain; this it is given.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from timebase.api.errors import InputError
from timebase.report.style import WIDTH_IN, style
from timebase.report.svg import COLOURS, inline_svg

ROW_IN = 0.2
AROUND_IN = 0.7
SHOWN = ("utc_ns", "own_clock", "peer")
TEXT = Markup(
    '<section id="languages">\n<h2>What a reading costs in each language</h2>\n'
    "<p>UTC by timebase, in the language's own inline code; by C's inline code in the same process; "
    "by the language's own clock and others' libraries. {where}</p>\n<figure>{svg}</figure>\n"
    "</section>\n"
)


def read(path: Path) -> dict:
    """What bench/languages.py has written; InputError if it is anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        found["rows"] = [row for row in found["rows"] if row["reading"] in SHOWN]
        for row in found["rows"]:
            _name(row)
            float(row["median_ns"]), float(row["p99_ns"])
        found["machine"]["processor"]
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not what `make languages` writes") from None
    return found


def section(found: dict | None) -> str:
    """HTML; nothing if no languages were measured."""
    if not found or not found["rows"]:
        return ""
    machine = found["machine"]
    where = f"Measured by make languages on {machine['processor'] or machine['architecture']}."
    return TEXT.format(where=escape(where), svg=Markup(picture(found["rows"])))


def picture(rows: list[dict]) -> str:
    """A dot at each median, a line up to the 99th percentile of the trials."""
    with matplotlib.rc_context(style(COLOURS)):
        size = (WIDTH_IN, ROW_IN * len(rows) + AROUND_IN)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        for place, row in enumerate(rows):
            colour = COLOURS[_role(row)]
            axes.plot([row["median_ns"], row["p99_ns"]], [place, place], color=colour, lw=2)
            axes.plot(row["median_ns"], place, "o", color=colour, ms=5)
        axes.set_yticks(range(len(rows)), [_name(row) for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("ns per call: median (dot), 99th percentile of batches")
        return inline_svg(figure, "Cost of one reading, by language")


def _name(row: dict) -> str:
    return f"{row['language']}: {row['who']}"


def _role(row: dict) -> str:
    if row["reading"] == "utc_ns":
        return "article" if row["who"] == "C inline" else "ours"
    return "kernel"
