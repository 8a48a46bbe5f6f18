# SPDX-License-Identifier: MIT
"""timebase doctor: is this machine ready, and what to do about what is not."""

from __future__ import annotations

from typing import Optional

import typer

from timebase.api.errors import InputError
from timebase.cli.output import JSON_OPTION, print_json

STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan", "ok": "green"}
NOT_READY = 1


def doctor(
    json: bool = JSON_OPTION,
    cpu: Optional[int] = typer.Option(  # noqa: UP045 (typer evaluates it, on Python 3.9 too)
        None, help="The CPU that is to be punctual [default: an isolated one, else the last]."
    ),
) -> None:
    """Can the clock be trusted here? Exit code 0: ready; 1: not ready."""
    from timebase.doctor.examine import examine

    if cpu is not None:
        _require_cpu(cpu)
    document = examine(cpu)
    if json:
        print_json(document)
    else:
        _print_tables(document)
    raise typer.Exit(0 if document["ready"] else NOT_READY)


def _require_cpu(cpu: int) -> None:
    from timebase.bench.placement import allowed_cpus, may_run_on
    from timebase.doctor.realtime import cpulist

    if not may_run_on(cpu):
        usable = cpulist.show(tuple(allowed_cpus()))
        raise InputError(f"--cpu {cpu}: this process cannot run there; it runs on {usable}")


def _print_tables(document: dict) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_facts_table(document))
    console.print()
    console.print(_findings_table(document["findings"]))
    console.print("\n[bold]For a clock that processes share[/]\n")
    console.print(_findings_table(document["shared"]["findings"]))
    console.print(
        f"\n[bold]For work at an exact instant, on CPU {document['realtime']['cpu']}[/]\n"
    )
    console.print(_findings_table(document["realtime"]["findings"]))
    ready = document["ready"]
    console.print("\n[bold green]Ready.[/]" if ready else "\n[bold red]Not ready.[/]")


def _facts_table(document: dict):
    from rich.table import Table

    counter, machine = document["counter"], document["machine"]
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    rows = {
        "machine": f"{machine['processor'] or machine['architecture']}, {machine['cpus']} CPUs, "
        f"Linux {machine['kernel']}",
        "counter": f"{counter['name']}, {counter['counter_class']}, "
        f"{counter['frequency_hz'] / 1e6:,.6f} MHz ({counter['frequency_source']})",
        "a read": f"{counter['cost_ns']:.1f} ns, ordered {counter['cost_ordered_ns']:.1f} ns; "
        f"steps of {counter['granularity_ticks']} ticks",
        "kernel": f"clocksource {counter['kernel_clocksource'] or 'unknown'}; hypervisor "
        f"{machine['hypervisor'] or 'none seen'}",
        "quality": f"{counter['quality']} of 100",
    }
    for name, value in rows.items():
        table.add_row(f"[dim]{name}[/]", value)
    return table


def _findings_table(findings: list):
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for finding in findings:
        style, severity = STYLES[finding["severity"]], finding["severity"]
        table.add_row(f"[{style}]{severity}[/]", escape(finding["text"]))
        if finding["advice"]:
            table.add_row("", f"[dim]→ {escape(finding['advice'])}[/]")
    return table
