# SPDX-License-Identifier: MIT
"""timebase exec: a program that cannot be changed reads the time by the counter."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Optional

import typer

from timebase.cli.options import MaybePath

# typer evaluates annotations, and Python 3.9 does not know `list[str] | None`.
Words = Optional[list[str]]

ALWAYS, NEVER = "always", "kernel"
ROWS = 20


def exec(
    words: Words = typer.Argument(
        None, metavar="PROGRAM", help="What to start, with its arguments."
    ),
    why: bool = typer.Option(
        False, "--why", help="Say on standard error whether it is helped, and why (not)."
    ),
    always: bool = typer.Option(
        False, "--always", help="Also where the kernel's own reading is quick: for trials."
    ),
    count: bool = typer.Option(
        False, "--count", help="Say on standard error at its end who asked for the time, how often."
    ),
    json: MaybePath = typer.Option(
        None, metavar="FILE", help="Write these counts as JSON (docs/json.md) instead."
    ),
) -> None:
    """Start a program whose clock readings are by the counter, where the kernel's own are dear.

    Its exit code is the program's; 127: not found; 126: cannot be started; 2: wrong input.
    """
    from timebase.exec import clocks, libraries
    from timebase.exec.program import ProgramError, find
    from timebase.exec.verdict import judge

    counts = count or json is not None
    if not words and (counts or not why):
        raise typer.BadParameter("name a program, or ask --why")
    if json is not None:
        from timebase.report.file import require_writable

        require_writable(json)
    try:
        program = find(words[0], os.environ) if words else None
        machine = clocks.look()
        verdict = judge(program, machine, libraries.find, always)
        if why or verdict.is_loss:
            _say(f"{verdict.reason}: {verdict.text}")
        if program is None:
            return
        if not counts:
            _become(program, words, verdict, ALWAYS if always else None)
        by_kernel = verdict.library is None and not verdict.is_loss
        if by_kernel:  # it is counted what the kernel is asked for
            verdict = judge(program, machine, libraries.find, always=True)
        mode = ALWAYS if always else NEVER if by_kernel else None
        raise typer.Exit(_counted(program, words, verdict, mode, json))
    except ProgramError as problem:
        _say(str(problem))
        raise typer.Exit(problem.code) from None


def _say(text: str) -> None:
    print(f"timebase exec: {text}", file=sys.stderr, flush=True)


def _become(program, words, verdict, mode: str | None) -> None:
    from timebase.exec.launch import become, environment_of

    sys.stdout.flush()
    become(program, words, environment_of(verdict, os.environ, mode))


def _counted(program, words, verdict, mode: str | None, json: Path | None) -> int:
    from timebase.exec import count
    from timebase.exec.launch import environment_of

    if verdict.library is None:
        _say(f"nothing is counted: {verdict.text}")
        _become(program, words, verdict, mode)
    with tempfile.TemporaryDirectory(prefix="timebase-count-") as folder:
        table = Path(folder) / "table"
        count.make(table)
        environment = environment_of(verdict, os.environ, mode)
        code = count.run(program, words, {**environment, count.VARIABLE: str(table)})
        _tell(words, code, *count.read(table), json)
    count.end_as(code)
    return code


def _document(words, code: int, rows, missed: int) -> dict:
    from dataclasses import asdict

    from timebase.api.counter import probe

    frequency_hz = probe().frequency_hz
    return {
        "words": words,
        "exit_code": code,
        "calls": sum(row.calls for row in rows) + missed,
        "calls_without_place": missed,
        "callers": [{**asdict(row), "mean_ns": _mean_ns(row, frequency_hz)} for row in rows],
    }


def _mean_ns(row, frequency_hz: int) -> float:
    return row.ticks / row.calls / frequency_hz * 1e9


def _tell(words, code: int, rows, missed: int, json: Path | None) -> None:
    document = _document(words, code, rows, missed)
    if json is not None:
        import json as json_module

        from timebase.report.file import write_whole

        write_whole(json, json_module.dumps(document, indent=2) + "\n")
        return
    _say(f"{document['calls']:,} calls")
    _print_table(rows)


def _print_table(rows) -> None:
    from timebase.api.counter import probe
    from timebase.exec.count import by_caller

    merged, frequency_hz = by_caller(rows), probe().frequency_hz
    if merged:
        print(f"{'calls':>12} {'mean ns':>9}  function, clock, caller", file=sys.stderr)
    for row in merged[:ROWS]:
        what = f"{row.function} {row.clock} {row.caller}"
        mean_ns = _mean_ns(row, frequency_hz)
        print(f"{row.calls:>12,} {mean_ns:>9,.1f}  {what}", file=sys.stderr)
    if len(merged) > ROWS:
        print(f"... and {len(merged) - ROWS} more: --json has all", file=sys.stderr)
