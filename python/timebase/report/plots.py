# SPDX-License-Identifier: MIT
"""The plots, as SVG to stand in the page itself.

Colours are written as stand-ins that svg.py turns into the page's own, for light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib
import numpy
from matplotlib.figure import Figure

from timebase.accuracy.figure import words
from timebase.report.style import WIDTH_IN, style
from timebase.report.svg import COLOURS, inline_svg
from timebase.report.words import reading

OURS, KERNEL, ARTICLE = COLOURS["ours"], COLOURS["kernel"], COLOURS["article"]
STYLE = style(COLOURS)


def _figure(height_in: float):
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    return figure, figure.subplots()


def _two_panels(height_in: float, sharex: bool = False):
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    return figure, figure.subplots(2, 1, sharex=sharex)


def family(name: str) -> str:
    """Whose clock a row of the bench is: ours, the kernel's or the article's."""
    if name.endswith("_2007"):
        return "article"
    return "kernel" if name.startswith(("clock_gettime", "gettimeofday")) else "ours"


def cost(rows: Sequence[dict]) -> str:
    """A line from minimum to 90th percentile and a dot at the median; the axis is logarithmic,
    for a system call takes 30 times as long as the counter."""
    with matplotlib.rc_context(STYLE):
        figure, axes = _figure(0.2 * len(rows) + 0.7)
        for place, row in enumerate(rows):
            colour = COLOURS[family(row["name"])]
            axes.plot([row["min_ns"], row["p90_ns"]], [place, place], color=colour, lw=2)
            axes.plot(row["median_ns"], place, "o", color=colour, ms=5)
        axes.set_yticks(range(len(rows)), [reading(row["name"]) for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xscale("log")
        axes.set_xticks(_one_two_five(axes.get_xlim()))
        axes.minorticks_off()
        axes.xaxis.set_major_formatter("{x:g}")
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("ns per call: minimum, median (dot), 90th percentile", loc="right")
        return inline_svg(figure, "Cost of one call, by clock")


def _one_two_five(limits: tuple) -> list:
    """1, 2, 5, 10, 20 and so on, as far as they lie within the limits; of many decades 1, 10, 100."""
    digits = (1,) if limits[1] > 300 * limits[0] else (1, 2, 5)
    ticks = [digit * 10.0**power for power in range(-2, 7) for digit in digits]
    return [tick for tick in ticks if limits[0] <= tick <= limits[1]]


FIGURE1_LINES = (
    ("gettimeofday", "gettimeofday", KERNEL, "-"),
    ("utc", "timebase, ordered", OURS, "-"),
    ("tb_libc_2007", "tb_libc (2007)", ARTICLE, "--"),
    ("tb_nano_2007", "tb (2007)", ARTICLE, "-"),
    ("utc_unordered", "timebase, unordered", OURS, ":"),
)


def figure1(found: dict) -> str:
    with matplotlib.rc_context(STYLE):
        figure, axes = _figure(2.8)
        calls = [count / 1000 for count in found["calls"]]
        for name, label, colour, line in FIGURE1_LINES:
            axes.plot(
                calls, found["time_us"][name], line, marker="o", ms=3, color=colour, label=label
            )
        axes.set_xlabel("number of invocations, thousands")
        axes.set_ylabel("execution time, µs")
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.legend()
        return inline_svg(figure, "Execution time against number of invocations")


def staircase(found: dict) -> str:
    with matplotlib.rc_context(STYLE):
        figure, axes = _figure(2.7)
        elapsed = found["elapsed_ns"]
        axes.step(
            elapsed, found["tb_nano_2007_ns"], where="post", color=ARTICLE, label="tb_nano (2007)"
        )
        axes.plot(elapsed, found["utc_ns"], ".", ms=3, color=OURS, label="timebase")
        axes.set_xlabel("elapsed by the counter, ns")
        axes.set_ylabel("shown by the clock, ns")
        axes.legend()
        return inline_svg(figure, "What two clocks show while the counter runs")


def tracking(found: dict) -> str:
    """Above, the error with its sign; below, error and bound on one logarithmic scale, for the
    bound may be many times the error."""
    with matplotlib.rc_context(STYLE):
        figure, (upper, lower) = _two_panels(4.0, sharex=True)
        _errors(upper, found)
        _error_and_bound(lower, found)
        return inline_svg(figure, "Error against CLOCK_REALTIME over time")


def _errors(axes, found: dict) -> None:
    time_sec, bound = found["time_sec"], numpy.array(found["maxerror_ns"], dtype=float)
    axes.fill_between(time_sec, -bound, bound, color=OURS, alpha=0.15, lw=0)
    axes.plot(time_sec, found["error_ns"], ".", ms=2.5, color=OURS)
    half = 1.3 * max(1.0, *(abs(error) for error in found["error_ns"]))
    axes.set_ylim(-half, half)
    axes.set_ylabel("timebase − system, ns")


def _error_and_bound(axes, found: dict) -> None:
    time_sec, bound = found["time_sec"], numpy.array(found["maxerror_ns"], dtype=float)
    least = 0.5  # stands for 0, which a logarithmic axis does not have
    axes.fill_between(time_sec, least, bound, color=OURS, alpha=0.15, lw=0, label="its own bound")
    size = numpy.maximum(numpy.abs(found["error_ns"]), least)
    axes.plot(time_sec, size, ".", ms=2.5, color=OURS, label="|error|")
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.8 * least)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_xlabel("s")
    axes.set_ylabel("ns")
    axes.legend(loc="center right")


TERM_WORDS = {
    "comparison": "comparison with the kernel",
    "line": "the line at its start",
    "oscillator": "oscillator since then",
    "slewing": "kernel's clock slewed since then",
    "claim": "kernel's distance from UTC",
}


def anatomy(found: dict) -> str:
    """A bar for each term; the axis is logarithmic, for a claim may be 16 s and a bracket 10 ns."""
    with matplotlib.rc_context(STYLE):
        rows = found["terms"]
        figure, axes = _figure(0.3 * len(rows) + 0.75)
        for place, row in enumerate(rows):
            width = max(row["ns"], 1)
            axes.barh(place, width, height=0.55, color=OURS)
            axes.text(width * 1.25, place, words(row["ns"]), va="center", fontsize=8)
        axes.set_xscale("log")
        axes.set_xlim(1, 40 * max(max(row["ns"], 1) for row in rows))
        axes.xaxis.set_major_formatter(lambda value, _: words(value))
        axes.minorticks_off()
        axes.set_yticks(range(len(rows)), [TERM_WORDS[row["name"]] for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        return inline_svg(figure, "What the bound is made of")


def sawtooth(found: dict) -> str:
    """The bound against CLOCK_REALTIME: each comparison makes it small, and then it grows."""
    with matplotlib.rc_context(STYLE):
        figure, axes = _figure(2.2)
        size = [ns / 1000 for ns in found["maxerror_ns"]]
        axes.fill_between(found["time_sec"], 0, size, color=OURS, alpha=0.15, lw=0)
        axes.plot(found["time_sec"], size, color=OURS, lw=1.1)
        axes.set_ylim(0, _usual_height(axes, size))
        axes.set_xlabel("s")
        axes.set_ylabel("bound, µs")
        return inline_svg(figure, "The bound against CLOCK_REALTIME over time")


def _usual_height(axes, size: list) -> float | None:
    """None: of all. A tooth that is many times the others, after a time without the processor, would
    make them a flat line: it leaves the picture, and its height is written there."""
    usual, highest = float(numpy.percentile(size, 90)), max(size)
    if highest <= 2 * usual:
        return None
    axes.annotate(
        f"up to {words(1000 * highest)}",
        (1, 1),
        xycoords="axes fraction",
        ha="right",
        va="bottom",
        fontsize=8,
        color=COLOURS["muted"],
    )
    return 1.3 * usual


def laps(found: dict) -> str:
    """Both histograms in one picture, over what 99.5 % of the laps took."""
    with matplotlib.rc_context(STYLE):
        figure, (upper, lower) = _two_panels(3.2)
        _histogram(upper, found["empty_ns"], "an empty lap, ns")
        _histogram(lower, found["work_ns"], f"a lap around {found['additions']} additions, ns")
        return inline_svg(figure, "Spread of the stopwatch")


MOST_BARS = 60


def _histogram(axes, values: Sequence[float], label: str) -> None:
    data = numpy.asarray(values)
    usual = data[data <= numpy.percentile(data, 99.5)]
    width = _bar_width(usual)
    places, times = numpy.unique(numpy.round((usual - usual.min()) / width), return_counts=True)
    axes.bar(usual.min() + places * width, times, width=0.85 * width, color=OURS)
    axes.set_xlim(usual.min() - 2 * width, max(usual.max(), usual.min() + 8 * width) + 2 * width)
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.7)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="x", visible=False)
    axes.set_xlabel(label)
    axes.set_ylabel("laps")


def _bar_width(values) -> float:
    """A multiple of the counter's step, else bars of one and of two steps would make a comb."""
    differences = numpy.diff(numpy.unique(values))
    step = float(differences.min()) if len(differences) else 1.0
    return step * max(1, math.ceil((values.max() - values.min()) / step / MOST_BARS))
