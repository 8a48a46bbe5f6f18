# SPDX-License-Identifier: MIT
"""timebase accuracy: how close to its target work begins, here."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import typer

from timebase.cli.output import JSON_OPTION, print_json, progress_bars, require_modules

# typer evaluates annotations, and Python 3.9 does not know `int | None`.
MaybeInt, MaybeText = Optional[int], Optional[str]
DRAWING_SEC = 8
# What the table shows; the JSON has all rows.
SHOWN = (
    "paper",
    "plain",
    "exact",
    "exact_undisturbed",
    "exact_never_early",
    "exact_cold_unprepared",
    "exact_cold",
    "event_cold",
    "event_cold_prepared",
    "event_cold_rehearsed",
    "timer_100us_cpuid_timerfd",
    "timer_100us_cpuid_timebase",
    "nanosleep_1khz",
    "sleep_then_wait_1khz",
    "delay_200ns_loop",
    "delay_200ns",
    "delay_1us_loop",
    "delay_1us",
)


def accuracy(
    quick: bool = typer.Option(False, "--quick", help="Fewer trials: below 15 s, not 2 minutes."),
    json: bool = JSON_OPTION,
    out: Path = typer.Option(
        Path("timebase-accuracy"), help="Folder for the pictures (PNG and SVG) and accuracy.json."
    ),
    cpu: MaybeInt = typer.Option(None, help="The CPU to measure on; by default the last one."),
    only: MaybeText = typer.Option(
        None, help="One experiment: offset, hit, cold, timer, sleep or delay."
    ),
    seed: MaybeInt = typer.Option(None, min=0, help="Of the random targets; printed."),
) -> None:
    """How close to its target work begins: the experiments of a report of 1997, and our waits."""
    from timebase.report.file import require_folder

    # Wrong input is refused before the minutes of measuring, not after them.
    require_modules("accuracy", "numpy", "matplotlib")
    require_folder(out)
    document = _measure_and_draw(quick, out, cpu, only, seed)
    if json:
        print_json(document)
    else:
        _print_table(document)
        print(f"pictures and numbers: {out}")


def _measure_and_draw(quick: bool, out: Path, cpu, only, seed) -> dict:
    from timebase.accuracy import experiments
    from timebase.accuracy.experiments import chosen, expected_sec
    from timebase.accuracy.extent import FULL, QUICK
    from timebase.accuracy.session import choose_cpu
    from timebase.report.file import write_whole
    from timebase.report.pictures import save

    names, extent = chosen(only), QUICK if quick else FULL
    chosen_cpu = choose_cpu(cpu)
    with progress_bars(total=expected_sec(extent, names) + DRAWING_SEC) as start:
        document = experiments.run(extent, cpu=chosen_cpu, names=names, seed=seed, start=start)
        save(document["figures"], out, start("drawing", DRAWING_SEC))
        write_whole(out / "accuracy.json", as_json(document))
    return document


def as_json(document: dict) -> str:
    """One line: the figures are long lists."""
    import json

    return json.dumps(document, ensure_ascii=False) + "\n"


def _print_table(document: dict) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title="Error of the event's beginning",
        box=None,
        padding=(0, 1, 0, 0),
        caption=_conditions(document),
    )
    table.add_column("", no_wrap=True)
    for title in ("p50", "p99", "p99.9", "bias", "late %", "dist. %", "CPU %"):
        table.add_column(title, justify="right", no_wrap=True)
    rows = {row["name"]: row for row in document["rows"]}
    for name in [name for name in SHOWN if name in rows] or list(rows):
        table.add_row(name, *_cells(rows[name]))
    console = Console(highlight=False)
    console.print(table)
    console.print()
    for figure in document["figures"]:
        console.print(f"[dim]{figure['id']}[/]  {figure['title'] or figure['note']}")


def _cells(row: dict) -> list[str]:
    from timebase.accuracy.figure import percent, words

    errors = ("p50_ns", "p99_ns", "p999_ns", "bias_ns")
    shares = ("late_share", "disturbed_share", "cpu_share")
    return [
        *("" if row[key] is None else words(row[key]) for key in errors),
        *("" if row[key] is None else percent(row[key]) for key in shares),
    ]


def _conditions(document: dict) -> str:
    machine, conditions = document["machine"], document["conditions"]
    refused = ", ".join(refusal["name"] for refusal in conditions["refused"]) or "nothing"
    return (
        "Percentiles of |error - bias| over all trials; dist.: disturbed, by the waits' own "
        "evidence. "
        f"{machine['processor']}, {machine['counter']} {machine['frequency_hz'] / 1e6:,.0f} MHz, "
        f"CPU {conditions['cpu']}, {conditions['scheduler']}, refused: {refused}, "
        f"load {conditions['load_average'][0]}; exact waits by {document['waiter']['mechanism']}; "
        f"seed {document['seed']}, {document['seconds']} s."
    )
