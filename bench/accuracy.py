#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How close waits come to their targets: `make accuracy`, on a quiet machine.

Runs `timebase accuracy` RUNS times and writes bench/results/accuracy.md: the goals, with what each
run reached; then all scenarios, medians of the runs; accuracy.json with the rows of every run beside it;
and the table in docs/guide/hit.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import accuracy_goals
import accuracy_guide
import record

from timebase.accuracy.figure import percent
from timebase.bench.percentile import DASH, least_count
from timebase.cli.accuracy_table import PERCENTILES, SHARES, SHOWN, number, signed

RUNS = 3
HEAD = "p50 / p90 / p95 / p99"


def measure(arguments: list[str]) -> dict:
    program = Path(sys.executable).with_name("timebase")
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "accuracy", "--json", "--out", folder, *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    document = json.loads(done.stdout)
    document.pop("figures", None)
    return document


def rows_of(run: dict) -> dict:
    return {row["name"]: row for row in run["rows"]}


def middle(values: list) -> float | None:
    """The median of the runs that have one; None unless most do."""
    there = [value for value in values if value is not None]
    return median(there) if 2 * len(there) > len(values) else None


def scenarios(runs: list[dict]) -> Iterator[str]:
    """A table in Markdown: raw errors, then the bias, then the spread."""
    heads = ["n", f"\\|error\\|: {HEAD}", "bias", f"about the median: {HEAD}"]
    yield "| | " + " | ".join([*heads, *SHARES, "shared", "clock steps"]) + " |"
    yield "|---|" + "---:|" * (len(heads) + len(SHARES) + 2)
    every = [rows_of(run) for run in runs]
    for scenario, names in SHOWN.items():
        there = [name for name in names if any(name in rows for rows in every)]
        if there:
            yield f"| **{scenario}** |" + " |" * (len(heads) + len(SHARES) + 2)
        for name in there:
            yield _scenario_row(name, [rows[name] for rows in every if name in rows])


def _scenario_row(name: str, rows: list[dict]) -> str:
    def of(key: str) -> float | None:
        return middle([row[key] for row in rows])

    cells = [
        f"{sum(row['trials'] for row in rows):,}",
        " / ".join(number(of(f"raw_{key}_ns")) for key in PERCENTILES),
        signed(of("bias_ns")),
        " / ".join(number(of(f"{key}_ns")) for key in PERCENTILES),
        *(_percent(of(key)) for key in SHARES.values()),
        _percent(middle([row["conditions"]["busy_share"] for row in rows])),
        _steps(rows),
    ]
    return f"| `{name}` | " + " | ".join(cells) + " |"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{percent(share)} %"


def _steps(rows: list[dict]) -> str:
    steps = [row["conditions"]["clock_steps"] for row in rows]
    blocks = sum(row["conditions"]["blocks"] for row in rows)
    return DASH if None in steps else f"{sum(steps):,} of {blocks:,}"


def _about(runs: list[dict]) -> Iterator[str]:
    """How it was measured, before any number."""
    conditions, core = runs[0]["conditions"], runs[0]["core"]
    refused = ", ".join(one["name"] for one in conditions["refused"]) or "nothing"
    calibrations = ", ".join(f"{run['waiter']['calibration_ns'] / 1e6:.1f}" for run in runs)
    yield (
        f"{len(runs)} run{'s' if len(runs) > 1 else ''}, each in one process: the methods of a scenario take turns in blocks of "
        f"at most 50 trials. CPU {conditions['cpu']}, pinned, {conditions['scheduler']}; granted: "
        f"{', '.join(conditions['granted']) or 'nothing'}; refused: {refused}. Exact waits by "
        f"{runs[0]['waiter']['mechanism']}; calibrated in {calibrations} ms."
    )
    yield (
        "Errors in ns: event − target, as the event's first act reads the counter "
        "(`timebase_wait_take_fine`; delays between readings in line, if one is enough). All trials "
        "count. `_undisturbed`: those without evidence of a disturbance by the wait itself. "
        "`_quiet`, `_busy`: those of blocks before and after "
        f"which the core was quiet, or shared: it made more than {core['quiet_above']:.0%} of "
        f"{core['additions_per_cycle']} independent additions in a cycle all through a look of "
        f"20 µs, or less than {core['busy_below']:.0%} at best. `watch`: the stopwatch alone, two readings with nothing between, their median "
        "taken off. `disturb`, `by loop`: shares of the waits' own evidence, and of waits that "
        "the polling loop ended. `clock steps`: blocks during which the core's clock changed by "
        f"more than {core['step_above']:.0%}."
    )
    yield (
        f"{DASH}: too few trials in a run: p50 needs {least_count(0.5)}, p90 {least_count(0.9)}, "
        f"p95 {least_count(0.95)}, p99 {least_count(0.99):,}. Figures are medians of the runs; n "
        "is of all."
    )


def _verdicts(runs: list[dict]) -> str:
    said = (
        f"{run['verdict']['answer']} ({run['verdict']['compared'] - len(run['verdict']['lost'])} "
        f"of {run['verdict']['compared']} percentiles)"
        for run in runs
    )
    return f"Does waiting win over the naive loop of the same run? {', '.join(said)}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    record.add_options(parser, parts=())
    parser.add_argument("--cpu", help="measure on this CPU")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    arguments = ["--quick"] * options.quick + (["--cpu", options.cpu] if options.cpu else [])
    runs = [measure(arguments) for _ in range(RUNS)]
    steps = f" in steps of {runs[0]['waiter']['quantum_ns']:.1f} ns"
    heading = record.heading(runs[0]["machine"], load, steps)
    text = [heading, ""]
    for line in _about(runs):
        text += [line, ""]
    text += [_verdicts(runs), "", *accuracy_goals.lines([rows_of(run) for run in runs]), ""]
    text += scenarios(runs)
    folder = record.folder(options)
    record.write(folder, "accuracy", text, {"load_average": load, "runs": runs})
    if folder == record.RESULTS:
        guide = record.ROOT / "docs/guide/hit.md"
        table = accuracy_guide.lines(heading, _verdicts(runs), [rows_of(run) for run in runs])
        said = accuracy_guide.replaced(guide.read_text(encoding="utf-8"), list(table))
        guide.write_text(said, encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
