#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The goal figures of trust: `make trust-goals`, on a quiet machine; half an hour.

Writes bench/results/trust.md, and trust.json with the numbers, date and load of each figure beside
it. A figure that cannot be taken here says what is missing; none is made up.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

import record
import trust_daemon
import trust_reads
from trust_stand import Failed, Missing, row, say

FIGURES = {
    "contains_truth": trust_daemon.contains_truth,
    "killed_daemon": trust_reads.killed_daemon,
    "read_with_bound": trust_reads.read_with_bound,
    "mapped_reads": trust_reads.mapped_reads,
    "attached_reads": trust_reads.attached_reads,
    "first_reading": trust_reads.first_reading,
    "daemon_resources": trust_daemon.daemon_resources,
    "start_synchronized": trust_daemon.start_synchronized,
    "old_ticks": trust_daemon.old_ticks,
    "fuzzers": trust_daemon.fuzzers,
}


def take(name: str, quick: bool) -> dict:
    """{"missing": None, "rows": [...]}, or what is missing and no rows."""
    say(name.replace("_", " "))
    started = time.monotonic()
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
        "quick": quick,
        "seconds": round(time.monotonic() - started, 1),
        "load_average": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d"),
        "rows": rows,
    }


def table(found: dict) -> list[str]:
    lines = ["| figure | reached | must | |", "|---|---:|---:|---|"]
    for name in FIGURES:
        taken = found["figures"].get(name)
        if taken is None or taken["missing"]:
            why = "not taken" if taken is None else taken["missing"]
            lines.append(f"| {name.replace('_', ' ')} | missing: {why} | | |")
            continue
        quick = " (quick: not for the record)" if taken["quick"] else ""
        for one in taken["rows"]:
            met = "" if taken["quick"] else "yes" if one["met"] else "**no**"
            lines.append(f"| {one['name']}{quick} | {one['reached']} | {one['must']} | {met} |")
    return lines


def lines(found: dict) -> list[str]:
    return [record.heading(found["machine"], found["load_average"]), "", *table(found)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    record.add_options(parser, tuple(FIGURES))
    parser.add_argument(
        "--seconds", type=int, default=trust_daemon.HOUR_SEC, help="how old the old ticks become"
    )
    options = parser.parse_args()
    trust_daemon.old_ticks_sec = options.seconds
    try:
        from timebase.api.counter import probe
        from timebase.api.machine import describe
    except ImportError:
        sys.exit("bench/trust.py: the Python package is missing: run it by `make trust-goals`")
    found = {"machine": describe(probe()), "load_average": os.getloadavg()[0], "figures": {}}
    for name in options.only or FIGURES:
        found["figures"][name] = take(name, options.quick)
        # Each time: an hour's work is not to be lost.
        record.write(record.folder(options), "trust", lines(found), found)
    print("\n".join(lines(found)))
    sys.exit(0 if all_met(found) else 1)


def all_met(found: dict) -> bool:
    """Every figure taken, in full, and as good as it must be."""
    taken = [found["figures"].get(name) for name in FIGURES]
    return all(
        figure and not figure["missing"] and all(one["met"] for one in figure["rows"])
        for figure in taken
    )


if __name__ == "__main__":
    main()
