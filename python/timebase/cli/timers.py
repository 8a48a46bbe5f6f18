# SPDX-License-Identifier: MIT
"""timebase bench --references: the table of 2011, for this machine."""

from __future__ import annotations

from timebase.cli.output import progress_bars


def measure(seconds: float) -> dict:
    """What `bench --references --json` prints."""
    from timebase.api.counter import probe
    from timebase.api.machine import describe
    from timebase.bench import timers

    with progress_bars(total=1) as start:
        found = timers.run(seconds, progress=start("timers beside the counter", 1))
    return {"machine": describe(probe()), **found}


def print_table(document: dict) -> None:
    from rich.console import Console

    from timebase.bench.timers import TITLES

    console = Console(highlight=False)
    console.print(_table(document, "Timers beside the counter", READ_COLUMNS, _read_cells))
    console.print(
        "[dim]Same: reads that showed what the one before did; else no edge is seen.[/]\n"
    )
    console.print(_table(document, "The counter by them", RATE_COLUMNS, _rate_cells))
    console.print(f"[dim]{_caption(document)}[/]")
    for row in document["rows"]:
        if row["problem"] is not None:
            problem = row["problem"]
            console.print(f"\n{TITLES[row['name']]}: {problem['text']}.", markup=False)
            console.print(f"→ {problem['advice']}", style="dim", markup=False)


def _caption(document: dict) -> str:
    from rich.markup import escape

    machine = document["machine"]
    return escape(
        "Residual about a straight line, of readings as they come and of edges that were awaited. "
        "Dropped: brackets that something made wide. ± is certain if both run evenly; faster: than "
        f"by the kernel. {document['seconds']:g} s each on CPU {document['cpu']}; "
        f"{machine['processor'] or machine['architecture']}, {machine['counter']}, clocksource "
        f"{machine['kernel_clocksource'] or 'unknown'}."
    )


READ_COLUMNS = ("MHz", "a read, ns", "p99", "same", "edge seen")
RATE_COLUMNS = ("residual, ticks", "of edges", "dropped", "MHz", "± ppm", "faster, ppm", "±")


def _table(document: dict, title: str, columns: tuple, cells):
    from rich.table import Table

    from timebase.bench.timers import TITLES

    table = Table(title=title)
    table.add_column("timer")
    for name in columns:
        table.add_column(name, justify="right")
    for row in document["rows"]:
        found = cells(row) if row["problem"] is None else ["–"] * len(columns)
        table.add_row(TITLES[row["name"]], *found)
    return table


def _read_cells(row: dict) -> list[str]:
    return [
        f"{row['hz'] / 1e6:,.6f}",
        f"{row['read_ns']['median']:,.0f}",
        f"{row['read_ns']['p99']:,.0f}",
        f"{row['same'] / row['reads']:.0%}",
        "yes" if row["sees_edge"] else "no",
    ]


def _rate_cells(row: dict) -> list[str]:
    edge, rate, against = row["edge"], row["rate"], row["against_kernel"]
    fits = [fit for fit in (row["plain"], edge) if fit]
    taken, kept = (sum(fit[key] for fit in fits) for key in ("taken", "kept"))
    return [
        f"{row['plain']['residual_ticks']:,.1f}",
        f"{edge['residual_ticks']:,.1f}" if edge else "–",
        f"{taken - kept} of {taken}",
        *([f"{rate['counter_hz'] / 1e6:,.6f}", f"{rate['error_ppm']:,.2f}"] if rate else "––"),
        *([f"{against['ppm']:+,.2f}", f"{against['error_ppm']:,.2f}"] if against else "––"),
    ]
