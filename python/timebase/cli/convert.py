# SPDX-License-Identifier: MIT
"""timebase convert: what raw ticks meant, long afterwards."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Optional

import typer

from timebase.cli.options import MaybeText
from timebase.cli.output import JSON_OPTION, print_json, progress_bars, require_modules
from timebase.text.duration import show_duration
from timebase.text.utc import iso_utc

# typer evaluates annotations, and Python 3.9 does not know `list[str] | None`.
MaybeTexts = Optional[list[str]]
STDIN = "-"
FAILED = 1
BATCH_LINES = 4096
CSV_COLUMNS = (
    "file",
    "line",
    "ticks",
    "utc",
    "utc_ns",
    "utc_maxerror_ns",
    "mono_ns",
    "maxerror_ns",
    "status",
    "is_promise",
    "reason",
)


def convert(
    ticks: MaybeTexts = typer.Argument(
        None, metavar="TICK", help="Ticks: decimal, or hexadecimal with 0x."
    ),
    file: MaybeText = typer.Option(None, "--file", "-f", help="Text with ticks; - is stdin."),
    form: str = typer.Option("plain", "--format", help="plain, csv, trace-cmd or perf."),
    column: MaybeText = typer.Option(None, help="Of plain and csv: from 1, or a csv's name."),
    separator: MaybeText = typer.Option(None, help="Of plain and csv; else blanks, commas."),
    timeline: MaybeText = typer.Option(None, metavar="FOLDER", help="Of the daemon's history."),
    page: MaybeText = typer.Option(None, metavar="PATH", help="By a page as it is now instead."),
    boot: MaybeText = typer.Option(None, metavar="ID", help="Of which boot: its id or beginning."),
    boots: bool = typer.Option(False, "--boots", help="List boots, gaps and damage instead."),
    draw_on: bool = typer.Option(False, "--draw-on", help="Draw the newest line on."),
    strict: bool = typer.Option(False, "--strict", help="Stop at the first that is refused."),
    as_csv: bool = typer.Option(False, "--csv", help="Print CSV instead of a table."),
    json: bool = JSON_OPTION,
) -> None:
    """Turn raw ticks into UTC with bounds, as readers were told then.

    What cannot be converted is named with its reason, and never guessed."""
    require_modules("convert", "numpy")
    _require_sense(
        ticks, file, form, column, separator, timeline, page, boot, boots, draw_on, json, as_csv
    )
    _require_ticks(ticks or ())
    if boots:
        raise typer.Exit(_show_contents(_meaning(timeline, page, boot, draw_on), json))
    finder = _finder(form, column, separator)
    with _lines(ticks, file) as (name, lines):
        meaning = _meaning(timeline, page, boot, draw_on)
        output = _Output(meaning.name, "json" if json else "csv" if as_csv else "table")
        for batch in _batches(lines):
            rows = list(_rows(batch, name, finder, ticks is not None and file is None))
            if not _convert(rows, meaning, output, strict):
                break
    output.finish()
    raise typer.Exit(FAILED if output.refused else 0)


def _require_sense(
    ticks, file, form, column, separator, timeline, page, boot, boots, draw_on, json, as_csv
):
    from timebase.api.errors import InputError
    from timebase.convert.formats import FORMATS

    if form not in FORMATS:
        raise InputError(f"--format {form}: must be one of {', '.join(FORMATS)}")
    if ticks and file is not None:
        raise InputError("give ticks or --file, not both")
    if not ticks and file is None and not boots:
        raise InputError("give ticks, or --file FILE (- is standard input), or --boots")
    if ticks and (form != "plain" or column is not None or separator is not None):
        raise InputError("--format, --column and --separator are of --file")
    if page is not None and (timeline is not None or boot is not None or draw_on or boots):
        raise InputError("--page goes without --timeline, --boot, --boots and --draw-on")
    if separator is not None and len(separator) != 1:
        raise InputError(f"--separator {separator!r}: must be one character")
    if json and as_csv:
        raise InputError("--json or --csv, not both")


def _require_ticks(texts: Iterable[str]) -> None:
    """Before any history is looked at: what was typed wrong is the first thing to know."""
    from timebase.api.errors import InputError
    from timebase.convert.formats import NoTickError, tick_of

    for text in texts:
        try:
            tick_of(text)
        except NoTickError as problem:
            raise InputError(problem) from None


def _meaning(timeline, page, boot, draw_on):
    from timebase.convert.meaning import ByPage, ByTimeline

    if page is not None:
        return ByPage(page)
    return ByTimeline(timeline, boot, draw_on)


def _finder(form, column, separator):
    from timebase.convert.formats import FORMATS

    return FORMATS[form](column, separator)


@contextmanager
def _lines(ticks, file) -> Iterator[tuple[str, Iterable[str]]]:
    """The input's name and lines, with a bar on a terminal for as much of it as has been read."""
    from timebase.api.errors import InputError

    if ticks:
        yield "argument", ticks
        return
    if file == STDIN:
        if sys.stdin is None:
            raise InputError("standard input is closed: name a file")
        sys.stdin.reconfigure(errors="replace")  # as a file's
        yield "standard input", sys.stdin
        return
    with open(file, encoding="utf-8", errors="replace", newline="\n") as text:
        size = os.fstat(text.fileno()).st_size
        with progress_bars(1) as start:
            yield file, _shown(text, size, start(os.path.basename(file), 1))


def _shown(text, size: int, tell) -> Iterator[str]:
    for number, line in enumerate(text):
        if number % BATCH_LINES == 0 and size:
            tell(min(1, text.buffer.tell() / size))
        yield line


def _batches(lines: Iterable[str]) -> Iterator[list]:
    """(number, line) in batches; from a pipe each batch as soon as it is full, or at its end."""
    batch = []
    for numbered in enumerate(lines, 1):
        batch.append(numbered)
        if len(batch) == BATCH_LINES:
            yield batch
            batch = []
    if batch:
        yield batch


def _rows(batch, name, finder, are_arguments: bool) -> Iterator[dict]:
    """A row for each line that has a tick, or should have."""
    from timebase.convert.formats import NoTickError

    for number, line in batch:
        text = line.rstrip("\r\n")
        row = {"file": name, "line": number, "text": None if are_arguments else text}
        try:
            row["ticks"] = finder(text)
        except NoTickError as problem:
            yield {**row, "ticks": None, "reason": str(problem)}
            continue
        if row["ticks"] is not None:
            yield {**row, "reason": None}


def _convert(rows: list, meaning, output: _Output, strict: bool) -> bool:
    """Returns whether to go on."""
    known = [row for row in rows if row["ticks"] is not None]
    for row, found in zip(known, meaning.of([row["ticks"] for row in known])):
        row["instant"], row["reason"] = found
    for row in rows:
        output.add(row)
        if strict and row["reason"] is not None:
            return False
    return True


class _Output:
    """Rows as a table, as CSV, or as JSON at the end; complaints on standard error."""

    def __init__(self, source: str, form: str):
        self.source = source
        self.form = form
        self.converted = self.refused = 0
        self._rows: list = []
        self._csv = csv.writer(sys.stdout, lineterminator="\n")
        if form == "csv":
            self._csv.writerow(CSV_COLUMNS)

    def add(self, row: dict) -> None:
        plain = _plain(row)
        if row["reason"] is None:
            self.converted += 1
        else:
            self.refused += 1
            what = "" if row["ticks"] is None else f"tick {row['ticks']}: "
            print(f"timebase: {row['file']}:{row['line']}: {what}{row['reason']}", file=sys.stderr)
        if self.form == "csv":
            self._csv.writerow("" if plain[key] is None else plain[key] for key in CSV_COLUMNS)
        elif self.form == "json":
            self._rows.append(plain)
        elif row["reason"] is None:
            print(_table_line(plain, row["text"]))

    def finish(self) -> None:
        if self.form == "json":
            print_json(
                {
                    "source": self.source,
                    "converted": self.converted,
                    "refused": self.refused,
                    "rows": self._rows,
                }
            )
        if self.refused:
            total = self.converted + self.refused
            print(f"timebase: {self.refused} of {total} not converted", file=sys.stderr)


def _plain(row: dict) -> dict:
    """What JSON and CSV have of a row."""
    instant = row.get("instant")
    plain = dict.fromkeys(CSV_COLUMNS)
    plain.update(file=row["file"], line=row["line"], ticks=row["ticks"], reason=row["reason"])
    if instant is not None:
        plain.update(
            utc=iso_utc(instant.utc_ns),
            utc_ns=instant.utc_ns,
            utc_maxerror_ns=instant.utc_maxerror_ns,
            mono_ns=instant.mono_ns,
            maxerror_ns=instant.maxerror_ns,
            status=instant.status.name,
            is_promise=instant.is_promise,
        )
    return plain


def _table_line(plain: dict, text: str | None) -> str:
    """The bound is a promise only when SYNCHRONIZED, and no estimate: both stand beside it."""
    bound = f"± {show_duration(plain['utc_maxerror_ns'])}"
    is_estimate = plain["status"] == "SYNCHRONIZED" and not plain["is_promise"]
    status = f"{plain['status']}{', estimate' if is_estimate else ''}"
    line = f"{plain['utc']}  {bound:>10}  {status:<12}"
    return f"{line}  {plain['ticks'] if text is None else text}"


def _show_contents(meaning, json: bool) -> int:
    document = {
        "source": meaning.name,
        "boots": [
            {**vars(boot), "id": str(boot.id), **_utc(boot, "first", "last")}
            for boot in meaning.boots
        ],
        "gaps": [
            {
                **vars(gap),
                "boot": str(gap.boot),
                "reason": gap.reason.name.lower(),
                **_utc(gap, "from", "to"),
            }
            for gap in meaning.gaps
        ],
        "damages": [vars(damage) for damage in meaning.damages],
    }
    if json:
        print_json(document)
    else:
        _print_contents(document)
    return 0


def _utc(item, *names: str) -> dict:
    return {f"{name}_utc": iso_utc(getattr(item, f"{name}_utc_ns")) for name in names}


def _print_contents(document: dict) -> None:
    if not document["boots"]:
        print("no lines yet")
    for boot in document["boots"]:
        ticks = f"ticks {boot['first_ticks']} to {boot['last_ticks']}"
        print(f"boot {boot['id']}  {boot['first_utc']} to {boot['last_utc']}  {ticks}")
        for gap in document["gaps"]:
            if (gap["boot"], gap["counter_id"]) == (boot["id"], boot["counter_id"]):
                print(f"  gap, {gap['reason']}: {gap['from_utc']} to {gap['to_utc']}")
    for damage in document["damages"]:
        print(f"{damage['file']}: {damage['size']} bytes at {damage['offset']} are no record")
