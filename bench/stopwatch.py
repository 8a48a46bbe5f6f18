# SPDX-License-Identifier: MIT
"""What the stopwatch makes of nothing: `.venv/bin/python bench/stopwatch.py`, on a quiet machine.

Its cost is calibrated and taken off. Shown is what is left in the median of many laps: of an empty
one, and of one with ten empty ones within, beside the uncertainty that the watch itself tells.
"""

from statistics import median

from timebase import Stopwatch

LAPS = 3001
INNER = 10


def empty(watch):
    with watch as elapsed:
        pass
    return elapsed


def nested(watch):
    with watch as elapsed:
        for _ in range(INNER):
            empty(watch)
    return elapsed


def main():
    watch = Stopwatch()
    print(f"cost of a lap: {watch.overhead_ns:.0f} ns")
    for name, lap in (("empty", empty), (f"{INNER} empty ones within", nested)):
        laps = [lap(watch) for _ in range(LAPS)]
        left, doubt = (median(getattr(one, of) for one in laps) for of in ("ns", "uncertainty_ns"))
        print(f"{name}: {left:+.0f} ns left, uncertainty {doubt:.0f} ns")


if __name__ == "__main__":
    main()
