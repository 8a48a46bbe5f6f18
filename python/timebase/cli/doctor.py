# SPDX-License-Identifier: MIT
"""timebase doctor: is this machine ready, and what to do about what is not."""

from __future__ import annotations

from typing import Optional

import typer

from timebase.api.errors import InputError
from timebase.cli.output import JSON_OPTION, print_json

STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan", "ok": "green"}
ANSWERS = {"yes": "bold green", "with limits": "bold yellow", "no": "bold red"}
NOT_READY = 1


def doctor(
    json: bool = JSON_OPTION,
    cpu: Optional[int] = typer.Option(  # noqa: UP045 (typer evaluates it, on Python 3.9 too)
        None, help="The CPU that is to be punctual [default: an isolated one, else the last]."
    ),
) -> None:
    """Can the clock be trusted here? Exit code 1: not even for reading the time; else 0."""
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
    console.print(findings_table(document["findings"]))
    console.print("\n[bold]For a clock that processes share[/]\n")
    console.print(findings_table(document["shared"]["findings"]))
    console.print(
        f"\n[bold]For work at an exact instant, on CPU {document['realtime']['cpu']}[/]\n"
    )
    console.print(findings_table(document["realtime"]["findings"]))
    console.print("\n[bold]Is this machine fit for[/]\n")
    console.print(_conclusions_table(document["conclusions"]))


def _conclusions_table(conclusions: list):
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for one in conclusions:
        count = one["reasons"]
        why = {0: "", 1: one["first"]}.get(
            count, f"{count} reasons above; the first: {one['first']}"
        )
        table.add_row(
            one["use"], f"[{ANSWERS[one['answer']]}]{one['answer']}[/]", escape(why or "")
        )
    return table


def _facts_table(document: dict):
    from rich.table import Table

    from timebase.text.frequency import show_frequency
    from timebase.text.hypervisor import show_hypervisor

    counter, machine = document["counter"], document["machine"]
    rate = show_frequency(counter["frequency_hz"], counter["frequency_error_hz"])
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    rows = {
        "machine": f"{machine['processor'] or machine['architecture']}, {machine['cpus']} CPUs, "
        f"Linux {machine['kernel']}",
        "counter": f"{counter['name']}, {counter['counter_class']}, "
        f"{rate}, {counter['frequency_source']}",
        "a read": f"{counter['cost_ns']:.1f} ns, ordered {counter['cost_ordered_ns']:.1f} ns; "
        f"steps of {counter['granularity_ticks']} ticks",
        "kernel": f"clocksource {counter['kernel_clocksource'] or 'unknown'}; hypervisor "
        f"{show_hypervisor(machine['hypervisor']) or 'none seen'}",
        "quality": f"{counter['quality']} of 100",
    }
    for name, value in rows.items():
        table.add_row(f"[dim]{name}[/]", value)
    return table


def findings_table(findings: list):
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for finding in findings:
        style, severity = STYLES[finding["severity"]], finding["severity"]
        table.add_row(f"[{style}]{severity}[/]", escape(finding["text"]))
        if finding["advice"]:
            table.add_row("", f"[dim]→ {escape(finding['advice'])}[/]")
    return table
