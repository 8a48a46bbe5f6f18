# SPDX-License-Identifier: MIT
"""Fills the page: template.html.j2 with the data, the plots and a few numbers made readable."""

from __future__ import annotations

from importlib import resources

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from timebase.cli.now import iso_utc
from timebase.report import plots


def build(document: dict) -> str:
    """The HTML text of a document of measure()."""
    text = resources.files("timebase.report").joinpath("template.html.j2").read_text("utf-8")
    environment = Environment(
        loader=DictLoader({"report": text}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(ns=ns, whole=whole, breakable=breakable, date=iso_utc)
    return environment.get_template("report").render(
        document, plots=_plots(document), figure1_ns=_ns_per_call(document["figure1"])
    )


def ns(value: float) -> str:
    """Three digits that matter: 9.58, 20.6, 272, 16,000."""
    size = abs(value)
    return f"{value:.2f}" if size < 10 else f"{value:.1f}" if size < 100 else f"{value:,.0f}"


def whole(value: float) -> str:
    return f"{value:,.0f}"


def breakable(name: str) -> Markup:
    """A name that a narrow column may break after its underscores."""
    return escape(name).replace("_", Markup("_<wbr>"))


def _plots(document: dict) -> dict:
    return {
        "cost": plots.cost(document["cost"]["rows"]),
        "figure1": plots.figure1(document["figure1"]),
        "staircase": plots.staircase(document["resolution"]),
        "tracking": plots.tracking(document["tracking"]),
        "laps": plots.laps(document["stopwatch"]),
    }


def _ns_per_call(figure1: dict) -> dict:
    """From the longest run of each clock."""
    calls = figure1["calls"][-1]
    return {name: times[-1] * 1000 / calls for name, times in figure1["time_us"].items()}
