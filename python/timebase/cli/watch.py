# SPDX-License-Identifier: MIT
"""timebase watch: a clock, live. For people a screen; else a line, or JSON, for each look."""

from __future__ import annotations

import json as json_module
import os
import sys
import time
from pathlib import Path

import typer

from timebase.cli.options import PAGE_OPTION, MaybeInt, MaybePath, MaybeText, duration_ns

FAILED = 1


def watch(
    page: MaybePath = PAGE_OPTION,
    private: bool = typer.Option(False, "--private", help="This process' own clock, no daemon's."),
    interval: MaybeText = typer.Option(
        "1s", metavar="DURATION", callback=duration_ns, help="From one look to the next."
    ),
    count: MaybeInt = typer.Option(None, min=1, help="End after so many looks."),
    json: bool = typer.Option(False, "--json", help="Print a JSON object (docs/json.md) a line."),
) -> None:
    """The shared clock, live. Ctrl-C ends it. Exit code 1 if there was never a page to read."""
    from timebase.api.clock import DEFAULT_PAGE
    from timebase.status.watch import Watch, page_sampler, private_sampler

    if private and page is not None:
        raise typer.BadParameter("take --page or --private, not both")
    path = page or Path(DEFAULT_PAGE)
    watching = Watch(private_sampler() if private else page_sampler(path))
    name = "this process' own clock" if private else str(path)
    try:
        with _showing(json, watching, name) as show:
            for _ in _beats(interval, count):
                show(watching.look())
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:  # the reader of the pipe has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(0 if watching.read else FAILED)


def _beats(interval_ns: int, count: MaybeInt):
    """Yields at once, then every interval; beats that were missed are left out."""
    due, done = time.monotonic(), 0
    while count is None or done < count:
        yield
        done += 1
        due = max(due + interval_ns / 1e9, time.monotonic())
        if count is None or done < count:
            time.sleep(max(0.0, due - time.monotonic()))


def _showing(json: bool, watching, name: str):
    if json:
        return _Lines(lambda look: json_module.dumps(look, ensure_ascii=False))
    if sys.stdout.isatty():
        return _Screen(watching, name)
    return _Columns()


class _Lines:
    """One for each look, at once."""

    def __init__(self, words):
        self._words = words

    def __enter__(self):
        return lambda look: print(self._words(look), flush=True)

    def __exit__(self, *_):
        pass


class _Screen:
    def __init__(self, watching, name: str):
        self._watching, self._name = watching, name

    def __enter__(self):
        from rich.console import Console
        from rich.live import Live

        self._live = Live(console=Console(highlight=False), auto_refresh=False)
        self._live.__enter__()
        return self._show

    def __exit__(self, *problem):
        self._live.__exit__(*problem)

    def _show(self, _look: dict) -> None:
        width = self._live.console.width
        self._live.update(screen(self._watching, self._name, width), refresh=True)


# Of a line for each look: what is above it, how wide it is, and what it is.
COLUMNS = (
    ("UTC", 24, lambda look: f"{look['utc'][:23]}Z"),
    ("status", -12, lambda look: look["state"]),
    ("off kernel", 10, lambda look: _shown(look["offset_ns"])),
    ("certain to", 10, lambda look: _shown(look["maxerror_ns"])),
    ("UTC to", 8, lambda look: _shown(look["utc_maxerror_ns"])),
    ("age", 8, lambda look: _shown(look["age_ns"])),
)
HEADER_EVERY = 20  # lines, as other programs that print columns for ever


def _shown(ns: int | None) -> str:
    from timebase.text.duration import show_duration

    return "" if ns is None else show_duration(ns)


def _cells(texts) -> str:
    """Below 80 columns; to the left where the width is negative."""
    return " ".join(
        f"{text:<{-width}}" if width < 0 else f"{text:>{width}}"
        for (_, width, _), text in zip(COLUMNS, texts)
    ).rstrip()


class _Columns:
    """A line for each look, below a header; what changed in lines that begin with #. While there is no
    page that is said once, and again when the reason is another one."""

    def __init__(self):
        self._lines = 0
        self._problem = None

    def __enter__(self):
        return self._show

    def __exit__(self, *_):
        pass

    def _show(self, look: dict) -> None:
        if look["problem"] is None:
            self._show_values(look)
        elif look["problem"] != self._problem:
            print(f"{look['state']}: {look['problem']}\n→ {look['advice']}", flush=True)
        self._problem = look["problem"]
        for change in look["changes"]:
            print(f"# {change}", flush=True)

    def _show_values(self, look: dict) -> None:
        if self._lines % HEADER_EVERY == 0:
            print(_cells(name for name, _, _ in COLUMNS))
        self._lines += 1
        print(_cells(value(look) for _, _, value in COLUMNS), flush=True)


def _values(look: dict):
    from timebase.text.duration import show_duration, show_error

    offset, bracket = look["offset_ns"], look["bracket_ns"]
    yield "off CLOCK_REALTIME", f"{show_duration(offset)} ± {show_duration(bracket)}"
    yield "by its own word", show_error(look["esterror_ns"], look["maxerror_ns"])
    yield "true UTC within", show_duration(look["utc_maxerror_ns"])
    if look["age_ns"] is not None:
        yield "age", show_duration(look["age_ns"])


TEXT_WIDTH = 59  # names, values and gaps: what is left of a screen's width has the pictures


def screen(watching, name: str, width: int = 100):
    """What a person sees of a Watch."""
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table

    from timebase.status.watch import sparkline

    latest = watching.samples[-1]
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0), title=escape(name))
    table.title_justify = "left"
    if latest.utc:
        table.add_row("UTC", latest.utc)
    table.add_row(
        "status", latest.state + (f": {escape(latest.problem)}" if latest.problem else "")
    )
    if latest.advice:
        table.add_row("", f"[dim]→ {escape(latest.advice)}[/]")
    pictures = {
        "off CLOCK_REALTIME": "offset_ns",
        "by its own word": "maxerror_ns",
        "true UTC within": "utc_maxerror_ns",
        "age": "age_ns",
    }
    for title, value in _values(vars(latest)) if latest.problem is None else ():
        seen = [getattr(one, pictures[title]) for one in watching.samples]
        line = sparkline(seen[-max(1, width - TEXT_WIDTH) :])
        table.add_row(title, f"{value:<36} {line}")
    log = [escape(change) for change in watching.changes] or ["[dim]nothing changed yet[/]"]
    return Group(table, "", *log)
