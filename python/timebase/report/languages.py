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
from matplotlib.ticker import NullLocator

from timebase.api.errors import InputError
from timebase.report.style import WIDTH_IN, style
from timebase.report.svg import COLOURS, inline_svg

ROW_IN = 0.2
AROUND_IN = 0.7
GAP = 0.3  # rows, between languages
ROOM_FOR_NUMBERS = 4  # times the largest, on a scale of powers
IN_C = "C inline"
SHOWN = ("utc_ns", "own_clock", "peer")
TEXT = Markup(
    '<section id="languages">\n<h2>What a reading costs in each language</h2>\n'
    "<p>UTC in the language's own inline code, and what else there is. The thin line is the median of "
    "C in the same process. {where}</p>\n"
    '<p class="legend muted"><span><span class="mark ours"></span>timebase</span> '
    '<span><span class="mark article"></span>C’s inline code</span> '
    '<span><span class="mark kernel"></span>the language’s own clock, others’ libraries</span></p>\n'
    "<figure>{svg}</figure>\n</section>\n"
)


def read(path: Path) -> dict:
    """What bench/languages.py has written; InputError if it is anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        found["rows"] = [row for row in found["rows"] if row["reading"] in SHOWN]
        for row in found["rows"]:
            str(row["language"]), str(row["who"])
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
    """A group for each language: a dot at each median, a line up to the 99th percentile of the
    trials, and down the group a line where C's inline code is."""
    groups: dict[str, list[dict]] = {}
    for row in rows:
        groups.setdefault(row["language"], []).append(row)
    with matplotlib.rc_context(style(COLOURS)):
        size = (WIDTH_IN, ROW_IN * (len(rows) + (1 + GAP) * len(groups)) + AROUND_IN)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        axes.set_xscale("log")
        names, place = {}, 0.0
        for language, of in groups.items():
            _heading(axes, place, language)
            names |= {place + 1 + i: row["who"] for i, row in enumerate(of)}
            _group(axes, place + 1, of)
            place += 1 + len(of) + GAP
        axes.set_yticks(list(names), list(names.values()))
        axes.set_ylim(place - GAP - 0.4, -0.6)
        axes.set_xlim(right=ROOM_FOR_NUMBERS * max(row["p99_ns"] for row in rows))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("ns per call, up to the 99th percentile of batches", loc="right")
        return inline_svg(figure, "Cost of one reading, by language")


def _heading(axes, place: float, language: str) -> None:
    axes.annotate(
        language,
        (0, place),
        xycoords=("axes fraction", "data"),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=9.5,
    )


def _group(axes, first: float, rows: list[dict]) -> None:
    for i, row in enumerate(rows):
        place = first + i
        colour, median_ns = COLOURS[_role(row)], row["median_ns"]
        axes.plot([median_ns, row["p99_ns"]], [place, place], color=colour, lw=2)
        axes.plot(median_ns, place, "o", color=colour, ms=5)
        axes.annotate(
            f"{median_ns:.{0 if median_ns >= 100 else 1}f}",
            (row["p99_ns"], place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=COLOURS["muted"],
        )
        if row["who"] == IN_C:
            ends = [first - 0.4, first + len(rows) - 0.6]
            axes.plot([median_ns, median_ns], ends, color=colour, lw=0.5, zorder=0)


def _role(row: dict) -> str:
    if row["reading"] == "utc_ns":
        return "article" if row["who"] == IN_C else "ours"
    return "kernel"
