# SPDX-License-Identifier: MIT
"""Fills the page: template.html.j2 with the data, the plots and a few numbers made readable."""

from __future__ import annotations

from importlib import resources

from jinja2 import DictLoader, Environment, StrictUndefined

from timebase.accuracy.figure import percent, words
from timebase.bench.percentile import DASH
from timebase.report import languages, plots
from timebase.report import words as say
from timebase.report.panels import draw
from timebase.report.svg import COLOURS, inline_svg
from timebase.text.utc import iso_utc


def build(document: dict, spoken: dict | None = None) -> str:
    """The HTML text of a document of measure(), and of languages.read() if that was measured."""
    text = resources.files("timebase.report").joinpath("template.html.j2").read_text("utf-8")
    environment = Environment(
        loader=DictLoader({"report": text}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        ns=ns,
        figure=figure,
        whole=whole,
        reading=say.reading,
        prose=say.prose,
        date=iso_utc,
        words=words,
        percent=percent,
    )
    cost_rows = document["cost"]["rows"]
    return environment.get_template("report").render(
        {**document, "machine": say.machine(document["machine"])},
        processor=document["machine"]["processor"] or document["machine"]["architecture"],
        cost_rows=say.ours_and_the_kernels(cost_rows),
        article_rows=say.of_the_article(cost_rows),
        statistics=say.statistics(document["clock_statistics"]),
        plots=_plots(document),
        figure1_ns=_ns_per_call(document["figure1"]),
        hit_plots=_hit_plots(document["hit"]),
        hit_rows=_hit_rows(document["hit"]),
        languages=languages.section(spoken),
    )


def ns(value: float) -> str:
    """Three digits that matter: 9.58, 20.6, 272, 16,000."""
    size = abs(value)
    return f"{value:.2f}" if size < 10 else f"{value:.1f}" if size < 100 else f"{value:,.0f}"


def figure(value: float | None) -> str:
    """The same of a percentile that there may not be; one decimal is enough for a column."""
    if value is None:
        return DASH
    return f"{value:.1f}" if abs(value) < 100 else f"{value:,.0f}"


def whole(value: float) -> str:
    return f"{value:,.0f}"


def _plots(document: dict) -> dict:
    return {
        "cost": plots.cost(say.ours_and_the_kernels(document["cost"]["rows"])),
        "figure1": plots.figure1(document["figure1"]),
        "staircase": plots.staircase(document["resolution"]),
        "tracking": plots.tracking(document["tracking"]),
        "laps": plots.laps(document["stopwatch"]),
        "sawtooth": plots.sawtooth(document["trust"]["own"]["sawtooth"]),
        "anatomy": _anatomy(document["trust"]["own"]),
    }


def _anatomy(own: dict) -> str | None:
    return None if own["problem"] else plots.anatomy(own)


def _ns_per_call(figure1: dict) -> dict:
    """From the longest run of each clock."""
    calls = figure1["calls"][-1]
    return {name: times[-1] * 1000 / calls for name, times in figure1["time_us"].items()}


HIT_FIGURES = ("histogram", "figure7_8", "sleep", "delay")
HIT_ROWS = {
    "loop": "naive loop",
    "exact": "exact wait",
    "exact_undisturbed": "exact wait, undisturbed",
    "exact_steady": "exact wait, steady",
    "plain": "naive loop, its lateness compensated",
    "watch": "the stopwatch alone",
    "loop_1khz": "naive loop, 1,000 a second",
    "sleep_then_wait_1khz": "sleep then wait, 1,000 a second",
    "delay_200ns_loop": "delay of 200 ns, naive loop",
    "delay_200ns": "delay of 200 ns",
    "delay_200ns_watch": "the stopwatch alone, for delays",
    "delay_1us_loop": "delay of 1 µs, naive loop",
    "delay_1us": "delay of 1 µs",
}
BY_SIBLING = {"quiet": ", core quiet", "busy": ", core shared"}


def _hit_plots(hit: dict) -> list[dict]:
    """Title and SVG of some of the figures."""
    found = {figure["id"]: figure for figure in hit.get("figures", [])}
    return [
        {
            "title": found[name]["title"].replace(" %", "\N{NO-BREAK SPACE}%"),
            "svg": inline_svg(draw(found[name], COLOURS), found[name]["title"]),
        }
        for name in HIT_FIGURES
        if name in found
    ]


def _hit_rows(hit: dict) -> list[dict]:
    """Each in words; those by the core's other thread below the row of all."""
    rows = {row["name"]: row for row in hit.get("rows", [])}
    return [{**rows[name], "words": said} for name, said in _hit_names(HIT_ROWS) if name in rows]


def _hit_names(named: dict[str, str]):
    for name, said in named.items():
        yield name, said
        if name in ("loop", "exact_undisturbed", "exact_steady"):
            name, said = name.replace("_undisturbed", ""), said.replace(", undisturbed", "")
            yield from ((f"{name}_{key}", said + more) for key, more in BY_SIBLING.items())
