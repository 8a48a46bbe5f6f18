#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The goal figures of waiting: `make accuracy`, on a quiet machine.

Runs `timebase accuracy` RUNS times and writes bench/results/accuracy.md: for each figure the median
of the runs, and all of them; accuracy.json with the rows of every run beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import record

RUNS = 3


def figure(name, row, value, must, show="{:.2f} ns"):
    return {"name": name, "row": row, "value": value, "must": must, "show": show}


# What to show of which row, and the goal.
FIGURES = [
    figure("exact wait without evidence of a disturbance, p50", "exact_undisturbed", "p50_ns", 0.5),
    figure("the same, p99", "exact_undisturbed", "p99_ns", 1.5),
    figure("the same, p99.9", "exact_undisturbed", "p999_ns", 3),
    figure("exact wait, all of them, p50", "exact", "p50_ns", 0.5),
    figure("the same, p99", "exact", "p99_ns", 2),
    figure("share with evidence of a disturbance", "exact", "disturbed_share", None, "{:.2%}"),
    figure("caches cold, prepared, p99", "exact_cold", "p99_ns", 2),
    figure("function cold, rehearsed, p99", "event_cold_rehearsed", "p99_ns", 12),
    figure("sleep then wait at 1 kHz, p90", "sleep_then_wait_1khz", "p90_ns", 1.5),
    figure("the same, p99", "sleep_then_wait_1khz", "p99_ns", 3),
    figure("the same, late", "sleep_then_wait_1khz", "late_share", 0.015, "{:.2%}"),
    figure("the same, CPU", "sleep_then_wait_1khz", "cpu_share", 0.05, "{:.2%}"),
    figure("the watch alone, around no delay, p50", "delay_200ns_watch", "p50_ns", None),
    figure("the same, p99", "delay_200ns_watch", "p99_ns", None),
    figure("delay of 200 ns, p50", "delay_200ns", "p50_ns", 0.5),
    figure("the same, p99", "delay_200ns", "p99_ns", 2),
    figure("delay of 1 µs, p50", "delay_1us", "p50_ns", 0.5),
    figure("the same, p99", "delay_1us", "p99_ns", 2),
]


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


def plain_to_exact(run: dict) -> float:
    rows = rows_of(run)
    return rows["plain"]["p99_ns"] / rows["exact"]["p99_ns"]


def lines_of(runs: list[dict]) -> list[str]:
    def line(name, values, must, show):
        all_of_them = ", ".join(show.format(value) for value in values)
        return f"| {name} | {show.format(median(values))} | {must} | {all_of_them} |"

    lines = ["| figure | median | must | runs |", "|---|---:|---:|---|"]
    for f in FIGURES:
        values = [rows_of(run)[f["row"]][f["value"]] for run in runs]
        must = "" if f["must"] is None else "≤ " + f["show"].format(f["must"])
        lines.append(line(f["name"], values, must, f["show"]))
    lines.append(line("p99 of plain / p99 of exact", [*map(plain_to_exact, runs)], "≥ 3", "{:.1f}"))
    calibrations = [run["waiter"]["calibration_ns"] / 1e6 for run in runs]
    lines.append(line("calibration", calibrations, "≤ 10 ms", "{:.1f} ms"))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    record.add_options(parser, parts=())
    parser.add_argument("--cpu", help="measure on this CPU")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    arguments = ["--quick"] * options.quick + (["--cpu", options.cpu] if options.cpu else [])
    runs = [measure(arguments) for _ in range(RUNS)]
    steps = f" in steps of {runs[0]['waiter']['quantum_ns']:.1f} ns"
    text = [record.heading(runs[0]["machine"], load, steps), "", *lines_of(runs)]
    record.write(record.folder(options), "accuracy", text, {"load_average": load, "runs": runs})
    print("\n".join(text))


if __name__ == "__main__":
    main()
