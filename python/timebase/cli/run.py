# SPDX-License-Identifier: MIT
"""timebase run: the units of a calendar, each begun at its time."""

from __future__ import annotations

import json as json_module
import os
import sys
from dataclasses import replace
from pathlib import Path

import typer

from timebase.cli.options import MaybeInt, MaybePath, MaybeText, duration_ns
from timebase.cli.output import require_modules

FAILED = 1
STDOUT = "-"
NEEDED = ("numpy", "pydantic", "rich")


def run(
    calendar: Path = typer.Argument(
        ..., metavar="CALENDAR", help="The calendar, a TOML file (docs/guide/run.md)."
    ),
    check: bool = typer.Option(False, "--check", help="Only say whether it is admitted."),
    length: MaybeText = typer.Option(
        None, "--for", metavar="DURATION", callback=duration_ns, help='Run so long, as "10s".'
    ),
    cpu: MaybeInt = typer.Option(None, min=0, help="Run on this CPU."),
    priority: MaybeInt = typer.Option(None, min=1, max=99, help="Of SCHED_FIFO."),
    json: MaybeText = typer.Option(
        None, metavar="FILE", help="Write JSON (docs/json.md); - is standard output."
    ),
    plot: MaybePath = typer.Option(None, help="Draw the errors: a file .svg or .png."),
    histogram: MaybeInt = typer.Option(
        None,
        min=1,
        max=1_000_000,
        metavar="US",
        help="Print nothing but how many began how many µs off, below US, as cyclictest does.",
    ),
    no_realtime: bool = typer.Option(
        False, "--no-realtime", help="Ask the kernel for nothing but the CPU."
    ),
) -> None:
    """Begin units of work at their times, and say how punctual that was. Ctrl-C ends it well."""
    require_modules("run", *NEEDED, *(["matplotlib"] if plot else []))
    from timebase.run.description import describe

    _require_outputs(calendar, json, plot)
    if histogram is not None and json == STDOUT:
        raise typer.BadParameter("--histogram and --json - both want standard output")
    about = describe(calendar)
    changes = {"length_ns": length, "cpu": _cpu(about, cpu), "priority": priority}
    changes = {name: value for name, value in changes.items() if value is not None}
    if no_realtime:
        changes["realtime"] = False
    as_asked = replace(about, calendar=about.calendar.model_copy(update=changes))
    raise typer.Exit(_run(as_asked, check, json, plot, histogram))


def _require_outputs(calendar: Path, json: MaybeText, plot: MaybePath) -> None:
    """Said before the run, not after it."""
    from timebase.api.errors import InputError
    from timebase.report.file import require_writable

    if json is not None and json != STDOUT:
        require_writable(Path(json))
    if plot is not None:
        if plot.suffix not in (".svg", ".png"):
            raise InputError(f"cannot draw {plot}: its name must end with .svg or .png")
        require_writable(plot)
    named = {os.path.realpath(calendar): "the calendar"}
    for option, file in (("--json", None if json == STDOUT else json), ("--plot", plot)):
        if file is not None:
            taken = named.setdefault(os.path.realpath(file), option)
            if taken != option:
                raise InputError(f"{option} {file}: would overwrite {taken}; name another file")


def _run(about, check: bool, json: MaybeText, plot: MaybePath, histogram: MaybeInt) -> int:
    from timebase.run.outcome import outcome
    from timebase.run.ready import make_ready
    from timebase.run.session import Session
    from timebase.run.show import Show

    is_taken = json == STDOUT or histogram is not None
    show = Show(quiet=is_taken)
    actions = make_ready(about)
    stdout_instead = sys.stderr.fileno() if is_taken else None
    session = Session(about, actions, stdout_instead, histogram)
    with show:
        session.run(lambda running: show.admission(running) and not check, show.look)
    document = outcome(session)
    try:
        show.result(document)
        _print_histogram(session)
    finally:  # whether or not anybody reads the table
        _write(document, json, plot)
    if session.is_abandoned:
        # A unit that never came back still uses what an orderly end would free.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(FAILED)
    return _exit_code(document, check)


def _print_histogram(session) -> None:
    from timebase.run.cyclictest import lines

    records = session.recorder.units if session.recorder is not None else []
    if records and records[0].whole_us is not None:
        names = [record.action.unit.name for record in records]
        print(*lines(names, [record.whole_us for record in records]), sep="\n")


def _cpu(about, option: MaybeInt) -> int:
    """Where the dispatcher runs: as asked for, or on the CPU that doctor looks at."""
    from timebase.api.errors import InputError
    from timebase.bench.placement import may_run_on
    from timebase.doctor.realtime.examine import Tree, choose_cpu

    found = about.calendar.cpu if option is None else option
    if found is None:
        return choose_cpu(Tree())
    if may_run_on(found):
        return found
    what = f"CPU {found} is not there, or not for this process"
    if option is not None:
        raise InputError(f"--cpu: {what}")
    about.source.complain(("calendar", "cpu"), "[calendar]: cpu", what)
    about.source.finish()
    raise AssertionError("finish() has raised")


def _write(document: dict, json: MaybeText, plot: MaybePath) -> None:
    from timebase.report.file import write_whole

    text = json_module.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if json == STDOUT:
        sys.stdout.write(text)
    elif json is not None:
        write_whole(Path(os.path.realpath(json)), text)
    if plot is not None and document["run"] is not None:
        from timebase.run.plot import draw

        write_whole(Path(os.path.realpath(plot)), draw(document, plot.suffix[1:]))


def _exit_code(document: dict, check: bool) -> int:
    if not document["admitted"]:
        return FAILED
    if check:
        return 0
    if document["run"] is None or document["run"]["ended"] not in ("done", "stopped"):
        return FAILED
    return FAILED if any(unit["failed"] for unit in document["units"]) else 0
