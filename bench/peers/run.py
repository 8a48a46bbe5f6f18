#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other people's clocks and waits beside ours: builds, measures, writes peers.* and waits.*"""

import argparse
import json
import os
import platform
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import build
import cost
import launch
import machine
import table
import toolchain
from catalogue import CLOCKS
from waits import run as waits_run

CALLS_PER_BATCH = 2000


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    rounds: int
    launches: int
    marks_s: tuple


FULL = Effort(rounds=2000, launches=15, marks_s=(1, 60))
QUICK = Effort(rounds=200, launches=3, marks_s=(1, 5))


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="TIMEBASE_INCLUDE (a list with ':') and TIMEBASE_LIB name the timebase to compare;"
        " without them it is this tree's include/ and build/.",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where peers.* and waits.* go (bench/results; of a quick run, build/peers)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="fewer rounds and launches, errors at 1 s and 5 s: a trial run",
    )
    parser.add_argument("--only", choices=tuple(PARTS), help="one of the two tables")
    options = parser.parse_args()
    kept, passing = build.HERE.parent / "results", build.HERE.parents[1] / "build/peers"
    options.out = options.out or (passing if options.quick else kept)
    return options


def with_segment(folder):
    """The environment in which clock-bound's client finds a segment."""
    segment = str(Path(folder) / "clock_bound_segment")
    build.run(build.TARGET / "rust" / "release" / "clock_bound_segment", segment)
    return {**os.environ, "PEERS_CLOCK_BOUND_SEGMENT": segment}


def clock_results(startups, errors):
    """Joins both measurements of each clock; it fell back if it did so in any of its processes."""
    joined = []
    for clock in CLOCKS:
        row = {
            "name": clock.name,
            "language": clock.language,
            "reference": clock.reference,
            **startups[clock.name],
            **errors.get(clock.name, {}),
        }
        joined.append(row)
        row["fell_back"] = bool(row["startup_fell_back"] or row.get("error_fell_back"))
    return joined


def measure(effort, facts):
    """Everything, in the order in which one part disturbs the next least."""
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        environment = with_segment(folder)
        costs = cost.measure(effort.rounds, CALLS_PER_BATCH, environment)
        startups, empty = launch.startups(effort.launches, environment)
        errors = launch.errors(effort.marks_s, environment)
    return {
        "machine": {**facts, "tsc_mhz": costs.pop("tsc_mhz")},
        "rows": costs.pop("rows"),
        "cost_run": costs,
        "launches": effort.launches,
        "empty_program_ns": empty,
        "marks_s": effort.marks_s,
        "clocks": clock_results(startups, errors),
    }


def write(results, folder):
    """Writes both files and shows the table."""
    folder.mkdir(parents=True, exist_ok=True)
    text = table.markdown(results)
    (folder / "peers.json").write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    (folder / "peers.md").write_text(text, "utf-8")
    print(text)
    print(f"written: {folder / 'peers.json'}, {folder / 'peers.md'}", file=sys.stderr)


def clocks(options):
    """What readings cost, and how right they are."""
    toolchain.check()
    facts = machine.facts()
    build.everything(toolchain.timebase())
    write(measure(QUICK if options.quick else FULL, facts), options.out)


def waits(options):
    """How exactly others wait."""
    waits_run.run(options.quick, options.out)


PARTS = {"clocks": clocks, "waits": waits}


def succeeded(part, options):
    """Whether that table could be made; if not, says why. The other one does not depend on it."""
    try:
        part(options)
    except (toolchain.Missing, build.Failed, launch.Broken, OSError) as problem:
        print(f"peers: {problem}", file=sys.stderr)
        return False
    return True


def main():
    """Exit status: 0 done, 1 something is missing or failed, 2 wrong machine or arguments."""
    options = arguments()
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        print(
            "peers: these peers read the x86-64 counter on Linux; this machine is"
            f" {platform.system()} {platform.machine()}",
            file=sys.stderr,
        )
        return 2
    parts = [PARTS[options.only]] if options.only else PARTS.values()
    failed = [part for part in parts if not succeeded(part, options)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
