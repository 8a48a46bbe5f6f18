# SPDX-License-Identifier: MIT
"""What a faster cadence costs and gives: `.venv/bin/python bench/samples.py`, on a quiet machine.

The default clock, maintained by hand so many times a second, in turns. Cost is the call's, less that
of one that does nothing; widths are of readings at random moments between two samples.
"""

import argparse
import random
import time
from statistics import median, quantiles

from timebase import Maintenance, default_clock

RATES = (10, 100, 1000)
ROUNDS = 5
SETTLE_S, ROUND_S = 0.5, 2.0


class Figures:
    def __init__(self):
        self.costs, self.maxerrors, self.esterrors, self.gaps = [], [], [], []

    def take(self, clock, interval_s):
        """One sample after a pause, and a reading somewhere in the pause."""
        begin = time.perf_counter_ns()
        early_s = interval_s * random.random()
        time.sleep(early_s)
        instant = clock.now()
        time.sleep(max(0, interval_s - (time.perf_counter_ns() - begin) / 1e9))
        before = time.perf_counter_ns()
        clock.mono_ns()
        between = time.perf_counter_ns()
        is_sampled = clock.maintain()
        after = time.perf_counter_ns()
        if is_sampled:
            self.costs.append((after - between) - (between - before))
        self.maxerrors.append(instant.maxerror_ns)
        self.esterrors.append(instant.esterror_ns)
        self.gaps.append((after - begin) / 1e9)


def settle(clock, interval_s):
    end = time.monotonic() + SETTLE_S
    while time.monotonic() < end:
        time.sleep(interval_s)
        clock.maintain()


def measured(clock, seconds):
    figures = {rate: Figures() for rate in RATES}
    for _ in range(ROUNDS):
        for rate in RATES:
            settle(clock, 1 / rate)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                figures[rate].take(clock, 1 / rate)
    return figures


def largest_but_some(values):
    """The 99th of a hundred."""
    return quantiles(values, n=100, method="inclusive")[98]


def row(rate, of):
    reached = 1 / median(of.gaps)
    share = median(of.costs) * reached / 1e9
    return (
        f"| {rate} | {reached:.0f} | {median(of.maxerrors):,.0f} | {largest_but_some(of.maxerrors):,.0f} "
        f"| {median(of.esterrors):,.0f} | {median(of.costs):,.0f} | {largest_but_some(of.costs):,.0f} "
        f"| {share:.4%} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=ROUND_S, help="of each round")
    seconds = parser.parse_args().seconds
    clock = default_clock()
    clock.set_maintenance(Maintenance.MANUAL)
    figures = measured(clock, seconds)
    print("| samples a second | reached | maxerror, median ns | 99 % | esterror, median ns |"
          " cost of a sample, median ns | 99 % | of a CPU |")  # fmt: skip
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for rate in RATES:
        print(row(rate, figures[rate]))


if __name__ == "__main__":
    main()
