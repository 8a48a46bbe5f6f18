# SPDX-License-Identifier: MIT
"""timebase status: does the daemon's clock deserve trust?

Exit codes as monitoring plugins have them: 0 ok, 1 warning, 2 critical, 3 unknown. Wrong input is 3
here: 2 would raise a critical alert.
"""

from __future__ import annotations

import typer
from typer.core import TyperCommand

from timebase.cli.options import PAGE_OPTION, MaybePath, MaybeText, duration_ns
from timebase.cli.output import JSON_OPTION, print_json

UNKNOWN = 3
UsageError = typer.BadParameter.__base__  # typer has it from click, or brings its own


class Probe(TyperCommand):
    """A verb whose wrong input is UNKNOWN."""

    def parse_args(self, ctx, args):
        try:
            return super().parse_args(ctx, args)
        except UsageError as problem:
            problem.exit_code = UNKNOWN
            raise


def status(
    page: MaybePath = PAGE_OPTION,
    metrics: MaybePath = typer.Option(
        None, help="The daemon's metrics [default: metrics.prom beside the page]."
    ),
    max_bound: MaybeText = typer.Option(
        "100ms", metavar="DURATION", callback=duration_ns, help="Critical if UTC is known worse."
    ),
    max_age: MaybeText = typer.Option(
        "5s", metavar="DURATION", callback=duration_ns, help="Critical if the page is older."
    ),
    nagios: bool = typer.Option(
        False, "--nagios", help="One line with performance data, for monitoring."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Does the shared clock deserve trust? Exit code 0 ok, 1 warning, 2 critical, 3 unknown."""
    from timebase.api.errors import TimebaseError
    from timebase.status.examine import examine
    from timebase.status.judge import Limits

    try:
        document = examine(page, metrics, Limits(max_bound, max_age))
    except (TimebaseError, OSError) as problem:
        typer.echo(f"timebase: {problem}", err=True)
        raise typer.Exit(UNKNOWN) from None
    if json:
        print_json(document)
    elif nagios:
        print(_nagios_line(document))
    else:
        _print_screen(document)
    raise typer.Exit(document["exit_code"])


def _nagios_line(document: dict) -> str:
    from timebase.cli.nagios import line

    return line(document, _said(document))


STYLES = {"critical": "bold red", "unknown": "magenta", "warning": "yellow", "ok": "green"}


def _print_screen(document: dict) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, soft_wrap=True)
    console.print(_headline(document))
    said, others = _said(document), _told_once(document["reasons"])
    first = next((one for one in others if one["text"] == said), None)
    if first is not None:
        others.remove(first)
        console.print(f"[dim]→ {escape(first['advice'])}[/]")
    for title, rows in _sections(document):
        console.print(f"\n[dim]{title}[/]")
        console.print(_table(rows))
    if others:
        console.print()
        console.print(_reasons(others, first and first["advice"]))


def _told_once(reasons: list) -> list:
    """Without those that another one names as its cause, with the same advice."""
    return [
        one
        for one in reasons
        if not any(one is not other and one["text"] in other["text"] for other in reasons)
    ]


def _headline(document: dict) -> str:
    from rich.markup import escape

    level = document["level"]
    return f"[{STYLES[level]}]{level.upper()}[/]: {escape(_said(document))}"


def _said(document: dict) -> str:
    page = document["page"]
    if page is None or document["level"] in ("critical", "unknown"):
        return document["reasons"][0]["text"] if document["reasons"] else ""
    return f"{page['status']}, true UTC {_utc_bound(page)}"


def _sections(document: dict):
    if document["page"] is not None:
        yield f"the page, {document['page_path']}", _page_rows(document["page"])
    if document["daemon"] is not None:
        yield "the daemon, by its metrics", _daemon_rows(document["daemon"])
    if document["references"]:
        yield "references: CLOCK_REALTIME - UTC as they see it", _source_rows(document)


def _page_rows(page: dict):
    from timebase.text.duration import show_duration, show_error

    yield "UTC", page["utc"]
    yield "status", page["status"]
    yield "from true UTC", _utc_bound(page)
    yield (
        "from CLOCK_REALTIME",
        (
            f"{show_error(page['esterror_ns'], page['maxerror_ns'])} by its own word; seen "
            f"{show_duration(page['offset_ns'])} ± {show_duration(page['bracket_ns'])}"
        ),
    )
    yield "age of its lines", show_duration(page["age_ns"])
    yield (
        "publications",
        (
            f"{page['publications']:,}, of them {page['late_publications']:,} late; "
            f"{page['utc_steps']:,} steps of UTC, disruption marker {page['disruption_marker']:,}"
        ),
    )
    yield "counter", f"{page['counter']}, {page['frequency_hz'] / 1e6:,.6f} MHz"
    yield "TAI - UTC", _tai_words(page)
    yield (
        "leap second",
        {0: "none announced", 1: "one more today", -1: "one less today"}[page["leap_sec"]],
    )


def _tai_words(page: dict) -> str:
    offset = page["tai_offset_sec"]
    return "nobody has said" if offset is None else f"{offset} s"


def _utc_bound(page: dict) -> str:
    from timebase.text.duration import show_duration

    if page["status"] in ("UNKNOWN", "UNRELIABLE"):
        return "no bound just now"
    kind = "a promise" if page["is_promise"] else "an estimate"
    return f"within {show_duration(page['utc_maxerror_ns'])}, {kind}"


def _daemon_rows(daemon: dict):
    from timebase.text.duration import show_duration
    from timebase.text.size import show_size

    version = f", version {daemon['version']}" if daemon["version"] else ""
    age = show_duration(daemon["metrics_age_sec"] * 1e9)
    yield "state", f"{daemon['state']}{version}; its last word is {age} old"
    names = ("publications", "late_publications", "slews", "utc_steps", "suspends", "disruptions")
    counts = [(name, daemon[name]) for name in names if daemon[name] is not None]
    if counts:
        yield (
            "counts",
            ", ".join(f"{count:,.0f} {name.replace('_', ' ')}" for name, count in counts),
        )
    if daemon["offset_ns"] is not None:
        yield "latest correction", show_duration(round(daemon["offset_ns"]))
    if daemon["frequency_error_ppb"] is not None:
        yield "rate known to", f"{daemon['frequency_error_ppb']:,.0f} ppb"
    if daemon["timeline_bytes"]:
        yield "timeline", show_size(daemon["timeline_bytes"])


def _source_rows(document: dict):
    from timebase.text.duration import show_duration

    for one in document["references"]:
        if one["is_up"] and one["is_outdated"]:
            said = "has not measured since this machine was disrupted"
        elif one["is_up"] is False or one["offset_ns"] is None or one["error_ns"] is None:
            said = "no answer"
        else:
            offset, error = (round(one[key]) for key in ("offset_ns", "error_ns"))
            said = f"{show_duration(offset)} ± {show_duration(error)}"
        yield one["source"], said + (", contradicts the majority" if one["is_falseticker"] else "")


def _table(rows):
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in rows:
        table.add_row(f"  {escape(name)}", escape(value))
    return table


def _reasons(reasons: list, told: str | None):
    """`told` is the advice that stands below the headline."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for reason in reasons:
        table.add_row(f"[{STYLES[reason['level']]}]{reason['level']}[/]", escape(reason["text"]))
        if reason["advice"] not in ("", told):
            table.add_row("", f"[dim]→ {escape(reason['advice'])}[/]")
    return table
