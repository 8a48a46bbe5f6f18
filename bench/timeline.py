#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conversions by a timeline per second: sorted ticks, and ticks in any order.

    .venv/bin/python bench/timeline.py [FOLDER]

Without a folder it writes one: an hour, four publications a second. The loop is the C library's.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[1]
TICKS = 1_000_000
HOUR = 4 * 3600


def write_hour(folder):
    sys.path.insert(0, str(ROOT / "tests/python"))
    import timelines

    timelines.write_series(Path(folder), HOUR)


def measure(timeline, ticks):
    started = time.process_time()  # of the processor: a shared machine does not count
    found = timeline.at_many(ticks)
    seconds = time.process_time() - started
    return seconds / len(ticks) * 1e9, int((found.errors != 0).sum())


def main():
    from timebase import Timeline
    from timebase.api.machine import processor_name

    with tempfile.TemporaryDirectory() as made:
        folder = sys.argv[1] if len(sys.argv) > 1 else made
        if folder == made:
            write_hour(made)
        with Timeline(folder) as timeline:
            boot = timeline.boots[-1]
            dice = numpy.random.default_rng(1)
            ticks = dice.integers(boot.first_ticks, boot.last_ticks, TICKS, dtype=numpy.uint64)
            print(processor_name() or "unknown processor")
            for name, asked in (("sorted", numpy.sort(ticks)), ("any order", ticks[: TICKS // 20])):
                ns, refused = measure(timeline, asked)
                print(f"{name:10} {ns:8.1f} ns each, {1e9 / ns:12,.0f} a second, {refused} refused")


if __name__ == "__main__":
    main()
