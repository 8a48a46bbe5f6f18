# SPDX-License-Identifier: MIT
"""What became of a calendar, as tables for people."""

from __future__ import annotations

from rich.console import Group
from rich.markup import escape
from rich.table import Table

from timebase.text.duration import show_duration

SHARES = (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p999", "p99.9"), ("max", "max"))
TROUBLES = (
    ("late", "late"),
    ("overruns", "overruns"),
    ("missed", "missed"),
    ("timed_out", "timed out"),
    ("skipped", "skipped"),
)
# Where the action itself begins, after the dispatcher has called it.
INNER = {"python": "  callable", "command": "  exec"}
NONE = "-"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column(columns[0])
    for column in columns[1:]:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _durations(summary: dict | None) -> list[str]:
    values = [summary[key] if summary else None for key, _title in SHARES]
    return [NONE if value is None else show_duration(value) for value in values]


def problems_table(file: str, problems: list[dict]) -> Table:
    table = Table(title=f"Admission of {escape(file)}", title_justify="left", box=None)
    for column in ("line", "unit", "", "what"):
        table.add_column(column)
    styles = {"fault": "bold red", "warning": "yellow"}
    for problem in problems:
        severity = problem["severity"]
        table.add_row(
            str(problem["line"]),
            escape(problem["unit"] or "[calendar]"),
            f"[{styles[severity]}]{severity}[/]",
            escape(problem["text"]),
        )
    return table


def begins_table(units: list[dict]) -> Table:
    """How punctual the releases were; fits into 80 columns."""
    titles = [title for _key, title in SHARES]
    table = _table("|begin - target|", "unit", "releases", *titles, "disturbed")
    for unit in units:
        share = unit["disturbed_share"]
        table.add_row(
            escape(unit["name"]),
            f"{unit['released']:,}",
            *_durations(unit["error_ns"]),
            NONE if share is None else f"{share:.1%}",
        )
        if unit["begin_ns"]:
            table.add_row(INNER[unit["action"]["kind"]], "", *_durations(unit["begin_ns"]), "")
    return table


def runs_table(units: list[dict]) -> Table:
    """How long they ran, and what went wrong."""
    titles = [title for _key, title in TROUBLES]
    table = _table("Runs", "unit", "longest", *titles, "")
    table.columns[-1].justify, table.columns[-1].no_wrap = "left", False
    for unit in units:
        counts = [f"{unit[key]:,}" if unit[key] else NONE for key, _title in TROUBLES]
        longest = show_duration(unit["longest_ns"]) if unit["released"] else NONE
        table.add_row(escape(unit["name"]), longest, *counts, escape(_what_happened(unit)))
    return table


def _what_happened(unit: dict) -> str:
    if unit["python"]:
        return _counted(unit["python"]["exceptions"], "raised {}")
    found = unit["command"]
    if not found:
        return ""
    parts = [
        f"{found['started']:,} x started",
        _counted({code: n for code, n in found["exits"].items() if code != "0"}, "exit {}"),
        _counted(found["signals"], "ended by {}"),
        _counted(found["not_started"], "not started: {}"),
        f"{found['overlaps']:,} x the one before still ran" if found["overlaps"] else "",
        f"longest {show_duration(found['ran_ns']['max'])}" if found["ran_ns"] else "",
    ]
    return ", ".join(part for part in parts if part)


def _counted(counts: dict, text: str) -> str:
    return ", ".join(f"{count:,} x {text.format(what)}" for what, count in counts.items())


def ending(document: dict) -> str:
    """One line on how the run ended."""
    run = document["run"]
    lines = {
        "done": "Done.",
        "stopped": f"Stopped by {run['stopped_by']}.",
        "error": run["failure"] or f"Stopped by a failure of unit {run['failed_unit']} (on_error).",
        "abandoned": "Left behind: a unit did not come back; the counts are those of the log.",
    }
    lost = f" The log lost {run['lost']:,} releases." if run["lost"] else ""
    failed = (
        f" Unit {unit['name']}: {unit['failed']:,} of {unit['released']:,} actions failed."
        for unit in document["units"]
        if unit["failed"]
    )
    return lines[run["ended"]] + lost + "".join(failed)


def result_tables(document: dict) -> Group:
    units = document["units"]
    return Group(begins_table(units), "", runs_table(units), "", escape(ending(document)))
