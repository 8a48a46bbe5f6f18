# SPDX-License-Identifier: MIT
"""timebase cpus: do the counters of the CPUs agree, and what to do if not."""

from __future__ import annotations

import typer

from timebase.cli.doctor import findings_table
from timebase.cli.options import duration_ns
from timebase.cli.output import JSON_OPTION, print_json

DISAGREE = 1
PICTURE_CELLS = 15  # odd: the middle is 0
FRESH_S = 0.1  # a CPU that was busy in the last rounds keeps an older range


def cpus(
    json: bool = JSON_OPTION,
    times: int = typer.Option(5, min=1, max=100_000, help="Measure so often."),
    interval: str = typer.Option(
        "250ms", callback=duration_ns, help="The rest between two measurements."
    ),
) -> None:
    """Each CPU's counter against the first one's. Exit code 1: they certainly disagree; else 0."""
    from timebase.doctor.cpus import examine

    document = examine(times, interval / 1e9)
    if json:
        print_json(document)
    else:
        _print_tables(document)
    is_critical = any(one["severity"] == "critical" for one in document["findings"])
    raise typer.Exit(DISAGREE if is_critical else 0)


def _print_tables(document: dict) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_table(document))
    kernel = document["kernel"]
    others = ", ".join(kernel["available"]) or "unknown"
    print(f"\nThe kernel keeps time by {kernel['clocksource'] or 'unknown'} (it has: {others}).")
    for message in kernel["messages"] or []:
        print(f"  {message}")
    print()
    console.print(findings_table(document["findings"]))


def _table(document: dict):
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(
        box=SIMPLE,
        title=f"Counters against that of CPU {document['reference_cpu']}",
        caption=f"Measured {document['measurements']} times; offset in ticks, growing by so many ppm; each "
        f"± is certain. The picture: {_scale(document):,} ticks to either side.",
    )
    for title in ("CPU", "against", "offset", "±", "ppm", "±"):
        table.add_column(title, justify="right")
    table.add_column("state")
    table.add_column("picture", no_wrap=True, min_width=PICTURE_CELLS)
    for row in document["cpus"]:
        table.add_row(*_cells(row), picture(row, _scale(document)))
    return table


def _cells(row: dict) -> list[str]:
    def number(key: str, unit: int = 1) -> str:
        value = row[key]
        return "" if value is None else f"{value / unit:,.3f}" if unit > 1 else f"{value:,}"

    return [
        str(row["cpu"]),
        number("against"),
        number("offset_ticks"),
        number("error_ticks"),
        number("drift_ppb", 1000),
        number("drift_error_ppb", 1000),
        state(row),
    ]


def state(row: dict) -> str:
    """With what its range is to be read by: how old it is, and how often the counter has jumped."""
    age = f" {row['age_s']:,.1f} s ago" if (row["age_s"] or 0) >= FRESH_S else ""
    jumps = f", {row['jumps']} jumps" if row["jumps"] else ""
    return row["state"] + age + jumps


def _scale(document: dict) -> int:
    """The furthest end of any range."""
    ends = [
        abs(row["offset_ticks"]) + row["error_ticks"]
        for row in document["cpus"]
        if row["state"] == "measured"
    ]
    return max([1, *ends])


def picture(row: dict, scale: int) -> str:
    """The range on a line, the estimate in it, and 0 where it is not covered."""
    if row["state"] != "measured":
        return ""

    def cell(ticks: int) -> int:
        return round((ticks / scale + 1) / 2 * (PICTURE_CELLS - 1))

    offset, error = row["offset_ticks"], row["error_ticks"]
    low, middle, high = (cell(ticks) for ticks in (offset - error, offset, offset + error))
    cells = [" "] * PICTURE_CELLS
    cells[PICTURE_CELLS // 2] = "·"
    cells[low : high + 1] = ["─"] * (high + 1 - low)
    cells[middle] = "●"
    return "".join(cells)
