# SPDX-License-Identifier: MIT
"""Draws figures that are given as data (timebase.accuracy.figure)."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.transforms
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from timebase.report.style import WIDTH_IN, style

DASHES = {"solid": "-", "dashed": "--", "dotted": ":"}
PANEL_IN = 2.1
NAME_IN = 0.3  # a place on an axis of names
AROUND_IN = 0.75  # title, labels
LINE_IN = 0.18


def draw(found: dict, colours: Mapping[str, str], title: str = "", note: str = "") -> Figure:
    """A figure; `title` above it and `note` below, both broken into lines already."""
    with matplotlib.rc_context(style(colours)):
        heights = [_height(panel) for panel in found["panels"]]
        rows = [*heights, LINE_IN * (note.count("\n") + 2)] if note else heights
        size = (WIDTH_IN, sum(rows) + (LINE_IN * (title.count("\n") + 2) if title else 0))
        figure = Figure(figsize=size, layout="constrained")
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=9.5, fontweight="bold")
        every_axes = figure.subplots(len(rows), 1, height_ratios=rows, squeeze=False)[:, 0]
        for axes, panel in zip(every_axes, found["panels"]):
            _panel(axes, panel, colours)
        if note:
            _note(every_axes[-1], note, colours)
        _legends(figure, every_axes)
        return figure


def _note(axes, note: str, colours: Mapping[str, str]) -> None:
    """In place of a panel."""
    axes.set_axis_off()
    x = axes.figure.transFigure  # from the left edge: the panels' labels take different widths
    place = matplotlib.transforms.blended_transform_factory(x, axes.transAxes)
    axes.text(0.01, 1, note, transform=place, va="top", fontsize=7, color=colours["muted"])


def _height(panel: dict) -> float:
    names = panel["y"]["names"]
    return AROUND_IN + (NAME_IN * len(names) if names else PANEL_IN - AROUND_IN)


def _panel(axes, panel: dict, colours: Mapping[str, str]) -> None:
    for series in panel["series"]:
        KINDS[series["kind"]](axes, series, colours[series["role"]])
    if panel["title"]:
        axes.set_title(panel["title"], loc="left", fontsize=8.5, color=colours["muted"])
    _axis(axes, "x", panel["x"])
    _axis(axes, "y", panel["y"])


def _legends(figure: Figure, every_axes) -> None:
    """One below all panels if they say the same by the same colours, else one in each."""
    found = [axes.get_legend_handles_labels() for axes in every_axes]
    labels = [labels for _, labels in found if labels]
    said = [[*zip(labels, map(_colour, handles))] for handles, labels in found if labels]
    look = {"fontsize": 7.5, "handlelength": 2.4}
    if said and all(other == said[0] for other in said):
        handles = next(handles for handles, labels in found if labels)
        _legend_below(figure, handles, labels[0], look)
    else:
        for axes, (_, labels) in zip(every_axes, found):
            if labels:
                axes.legend(loc="best", **look)


def _colour(handle) -> str:
    return str(handle.get_color())


def _legend_below(figure: Figure, handles, labels: list, look: dict) -> None:
    """What it takes is added: else low panels are shorter than what stands beside their axes."""
    figure.set_figheight(figure.get_figheight() + LINE_IN * (len(labels) + 1) / 2)
    try:
        figure.legend(handles, labels, loc="outside lower left", ncols=2, **look)
    except ValueError:  # matplotlib 3.6: its layout knows no legend of a whole figure
        high = LINE_IN * (len(labels) + 3) / 2 / figure.get_figheight()
        figure.get_layout_engine().set(rect=(0, high, 1, 1 - high))
        figure.legend(handles, labels, loc="lower left", ncols=2, **look)


def _axis(axes, which: str, asked: dict) -> None:
    label = asked["label"]
    if asked["scale"] == "log":
        getattr(axes, f"set_{which}scale")("log")
        in_ns = ", ns" in label
        label = label.replace(", ns", "")
        _powers_of_ten(getattr(axes, f"{which}axis"), in_ns)
    getattr(axes, f"set_{which}label")(label)
    if asked["limits"]:
        getattr(axes, f"set_{which}lim")(asked["limits"])
    if asked["names"]:
        axes.set_yticks(range(len(asked["names"])), asked["names"])
        axes.set_ylim(len(asked["names"]) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)


def _powers_of_ten(axis, in_ns: bool) -> None:
    """Written out; times with their unit: 100 ns, 1 µs."""
    axis.set_major_locator(LogLocator(numticks=9))
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: _time(value) if in_ns else _plain(value))
    )
    axis.set_minor_locator(NullLocator())


def _plain(value: float) -> str:
    """0.00001, not 1e-05."""
    return f"{value:.10f}".rstrip("0").rstrip(".")


def _time(ns: float) -> str:
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns > 0.999 * unit:
            return f"{ns / unit:g} {name}"
    return f"{ns:g} ns"


def _label(series: dict) -> str | None:
    return series["label"] or None  # matplotlib takes None for "not in the legend"


def _line(axes, series: dict, colour: str) -> None:
    axes.plot(
        series["x"],
        series["y"],
        DASHES[series["dash"]],
        color=colour,
        lw=1.3,
        label=_label(series),
    )


def _dots(axes, series: dict, colour: str) -> None:
    axes.plot(series["x"], series["y"], ".", color=colour, ms=2.5, alpha=0.45, label=_label(series))


def _steps(axes, series: dict, colour: str) -> None:
    axes.step(
        series["x"],
        series["y"],
        DASHES[series["dash"]],
        where="post",
        color=colour,
        lw=1.3,
        label=_label(series),
    )


def _range(axes, series: dict, colour: str) -> None:
    axes.hlines(series["x"], series["low"], series["high"], color=colour, lw=2)
    axes.plot(series["y"], series["x"], "o", color=colour, ms=4.5, label=_label(series))


KINDS = {"line": _line, "dots": _dots, "steps": _steps, "range": _range}
