#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The goal figures of trust: `make trust-goals`, on a quiet machine; two hours and a half.

Writes bench/results/trust.md, and trust.json with the numbers, date and load of each figure beside
it. `--only PART` takes a part again, and leaves the other rows of the table as they are. A figure
that cannot be taken here says what is missing; none is made up.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import record
import trust_daemon
import trust_errors
import trust_reads
import trust_record
from trust_stand import Failed, Missing, row, say

FIGURES = {
    "contains_truth": trust_daemon.contains_truth,
    "killed_daemon": trust_reads.killed_daemon,
    "read_with_bound": trust_reads.read_with_bound,
    "mapped_reads": trust_reads.mapped_reads,
    "attached_reads": trust_reads.attached_reads,
    "first_reading": trust_reads.first_reading,
    "errors": trust_errors.errors,
    "daemon_resources": trust_daemon.daemon_resources,
    "start_synchronized": trust_daemon.start_synchronized,
    "old_ticks": trust_daemon.old_ticks,
    "fuzzers": trust_daemon.fuzzers,
}


def take(name: str, quick: bool, run: str) -> dict:
    """{"missing": None, "rows": [...]}, or what is missing and no rows; `run` is date and commit."""
    say(name.replace("_", " "))
    started, load = time.monotonic(), os.getloadavg()[0]
    try:
        rows, missing = FIGURES[name](quick), None
    except Missing as problem:
        rows, missing = [], str(problem)
        say(f"  missing: {missing}")
    except Failed as problem:
        rows, missing = [row(name.replace("_", " "), "", f"failed: {problem}", False)], None
        say(f"  failed: {problem}")
    return {
        "missing": missing,
        "trial": quick or (name == "old_ticks" and trust_daemon.is_trial()),
        "seconds": round(time.monotonic() - started, 1),
        "load_average": load,
        "run": run,
        "rows": rows,
    }


def take_all(options: argparse.Namespace, machine: dict, out: Path | None) -> dict:
    # Once: the tree and the day may change in these hours.
    heading = record.heading(machine, os.getloadavg()[0])
    run = {"machine": machine, "heading": heading, "figures": {}}
    for name in options.only or FIGURES:
        run["figures"][name] = take(name, options.quick, trust_record.run_of(heading))
        # Each time: an hour's work is not to be lost.
        if out is not None and (kept := trust_record.add(out, FIGURES, name, run)):
            say(f"  not recorded: {kept}")
    return run


def lines(run: dict) -> list[str]:
    """Of this run alone."""
    table = trust_record.Table()
    for name, taken in run["figures"].items():
        table.put(name, taken, run["heading"])
    return table.lines(run["figures"])


def all_met(run: dict) -> bool:
    """Every figure that was asked for is taken, in full, and as good as it must be."""
    return all(
        not taken["missing"]
        and not taken["trial"]
        and all(one["met"] is not False for one in taken["rows"])
        for taken in run["figures"].values()
    )


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    record.add_options(parser, tuple(FIGURES))
    parser.add_argument(
        "--seconds",
        type=int,
        default=trust_daemon.HOUR_SEC,
        help="how old the old ticks become; below an hour it is a trial, and replaces no figure",
    )
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    trust_daemon.old_ticks_sec = options.seconds
    try:
        from timebase.api.counter import probe
        from timebase.api.machine import describe
    except ImportError:
        sys.exit("bench/trust.py: the Python package is missing: run it by `make trust-goals`")
    # A quick run is written only where somebody asks for it.
    out = options.out or (None if options.quick else record.RESULTS)
    run = take_all(options, describe(probe()), out)
    print("\n".join(lines(run)))
    sys.exit(0 if all_met(run) else 1)


if __name__ == "__main__":
    main()
