# SPDX-License-Identifier: MIT
"""From the driver's trials, in ticks, to errors in ns: what the stopwatch adds is taken off."""

from dataclasses import dataclass
from itertools import repeat

TRIMMED = 0.1  # of the stopwatch's own trials, at either end: interrupts
AROUND = 7  # neighbours on either side: enough to leave out outliers, near enough to follow
STOPWATCH = ("reading", "pair", "later")  # kinds that are about the stopwatch alone


@dataclass(frozen=True)
class Cell:
    """What the driver says of one way to wait with one target."""

    name: str
    kind: str  # delay, period; reading and pair are about the stopwatch
    asked_ns: int
    trials: list  # ticks
    costs: list  # delays: the stopwatch around nothing, before each trial; ticks
    cpu_ns: int
    wall_ns: int
    skipped: int


def quantile(ordered, share):
    """The smallest of the ordered values that at least `share` of them do not exceed."""
    rank = -int(-share * len(ordered) // 1) - 1
    return ordered[min(max(rank, 0), len(ordered) - 1)]


def trimmed_mean(values):
    """The mean of the middle ones."""
    ordered = sorted(values)
    cut = int(len(ordered) * TRIMMED)
    middle = ordered[cut : len(ordered) - cut]
    return sum(middle) / len(middle)


def local_medians(values):
    """For each value the median of those around it, itself included."""
    for place in range(len(values)):
        first = max(0, min(place - AROUND, len(values) - 2 * AROUND - 1))
        yield quantile(sorted(values[first : first + 2 * AROUND + 1]), 0.5)


def instant_cost(cells, step_ticks):
    """How much later a reading behind an event is than the event: a reading behind a plain one,
    less what another plain one would be. A plain reading of v stands for v to v + step - 1."""
    about = {cell.kind: trimmed_mean(cell.trials) for cell in cells if cell.kind in STOPWATCH}
    return about["reading"] - (step_ticks - 1) / 2 - about["pair"]


def cold_errors_ns(cells, ticks_per_ns):
    """How much later the stopwatch reads after a millisecond than at once: its code is cold."""
    warm = next(trimmed_mean(cell.trials) for cell in cells if cell.kind == "reading")
    later = next(cell.trials for cell in cells if cell.kind == "later")
    return [(ticks - warm) / ticks_per_ns for ticks in later]


def errors_ns(cell, instant_ticks, ticks_per_ns):
    """Each trial's error: positive is late. A delay has the stopwatch on both sides."""
    added = local_medians(cell.costs) if cell.kind == "delay" else repeat(instant_ticks)
    return [(ticks - cost) / ticks_per_ns for ticks, cost in zip(cell.trials, added)]


def figures(errors):
    """Of all trials: the median with its sign, and quantiles of the distance."""
    signed, distance = sorted(errors), sorted(map(abs, errors))
    return {
        "trials": len(errors),
        "bias_ns": quantile(signed, 0.5),
        "earliest_ns": signed[0],
        "latest_ns": signed[-1],
        "p50_ns": quantile(distance, 0.5),
        "p90_ns": quantile(distance, 0.9),
        "p99_ns": quantile(distance, 0.99),
        "p999_ns": quantile(distance, 0.999),
    }


def row(cell, instant_ticks, ticks_per_ns):
    """A row of the results."""
    return {
        "name": cell.name,
        "kind": cell.kind,
        "asked_ns": cell.asked_ns,
        **figures(errors_ns(cell, instant_ticks, ticks_per_ns)),
        "cpu_share": cell.cpu_ns / cell.wall_ns if cell.wall_ns else None,
        "skipped": cell.skipped,
    }
