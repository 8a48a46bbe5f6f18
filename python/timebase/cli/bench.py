# SPDX-License-Identifier: MIT
"""timebase bench: what each way to read the time costs, here."""

from __future__ import annotations

import typer

from timebase.cli import timers
from timebase.cli.options import MaybeFloat, MaybePath
from timebase.cli.output import JSON_OPTION, print_json, progress_bars


def bench(
    json: bool = JSON_OPTION,
    rounds: int = typer.Option(200, min=3, max=100_000, help="Batches of each row."),
    calls: int = typer.Option(1000, min=10, max=1_000_000, help="Calls in a batch."),
    references: bool = typer.Option(
        False,
        "--references",
        help="The counter's rate by HPET, ACPI timer, battery clock and kernel instead.",
    ),
    compare: MaybePath = typer.Option(
        None, metavar="OLD.json", help="Set beside what an earlier `bench --json` has written."
    ),
    seconds: MaybeFloat = typer.Option(
        None, min=0.1, max=600, metavar="X", help="With --references: of each [default: 1]."
    ),
) -> None:
    """Cost per call of timebase, the kernel's clocks and the article's of 2007."""
    if seconds is not None and not references:
        raise typer.BadParameter("--seconds goes with --references")
    if compare is not None:
        if references or json:
            raise typer.BadParameter("--compare goes without --references and --json")
        from timebase.bench.compare import read

        old = read(compare)  # refused before the measuring, not after it
        _print_changes(old, measure(rounds, calls))
        return
    document = timers.measure(seconds or 1.0) if references else measure(rounds, calls)
    if json:
        print_json(document)
    elif references:
        timers.print_table(document)
    else:
        _print_table(document)


def measure(rounds: int, calls: int) -> dict:
    """What `bench --json` prints."""
    from timebase.api.counter import probe
    from timebase.api.machine import describe
    from timebase.bench import cost

    with progress_bars(total=1) as start:
        found = cost.run(rounds, calls, start("cost per call", 1))
    return {"machine": describe(probe()), **found}


def _print_table(document: dict) -> None:
    from rich.console import Console
    from rich.table import Table

    machine = document["machine"]
    table = Table(
        title="Cost of one call, ns",
        caption=f"{document['rounds']} interleaved batches of {document['calls_per_batch']} calls "
        f"on CPU {document['cpu']}; ratio of medians. "
        f"{machine['processor']}, {machine['counter']} {machine['frequency_hz'] / 1e6:,.0f} MHz.",
    )
    table.add_column("call")
    for title in ("min", "median", "p90", "counter = 1"):
        table.add_column(title, justify="right")
    for row in document["rows"]:
        numbers = [f"{row[key]:,.2f}" for key in ("min_ns", "median_ns", "p90_ns")]
        table.add_row(row["name"], *numbers, f"{row['ratio_to_counter']:,.2f}")
    Console(highlight=False).print(table)


def _print_changes(old: dict, new: dict) -> None:
    from rich.console import Console
    from rich.table import Table

    from timebase.bench.compare import changes, differences

    table = Table(
        title="Cost of one call, ns: then and now",
        caption="Ratio of medians. Slower, faster: even the least of one run is above nine tenths "
        "of the other's.",
    )
    table.add_column("call")
    for title in ("median then", "now", "p90 then", "now", "ratio"):
        table.add_column(title, justify="right")
    table.add_column("")
    for one in changes(old, new):
        numbers = [
            _number(row, key) for key in ("median_ns", "p90_ns") for row in (one.old, one.new)
        ]
        ratio = "" if one.ratio is None else f"{one.ratio:.3f}"
        table.add_row(one.name, *numbers, ratio, one.verdict)
    console = Console(highlight=False)
    console.print(table)
    for difference in differences(old, new):
        console.print(f"Not the same machine as then: {difference}", markup=False)


def _number(row, key: str) -> str:
    return "" if row is None else f"{row[key]:,.2f}"
