# SPDX-License-Identifier: MIT
"""From the driver's trials, in ticks, to errors in ns: what the stopwatch adds is taken off."""

from dataclasses import dataclass, replace
from itertools import repeat

from waits.rules import neighbour, percentile

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
    chunks: tuple = ()  # one for each trial: which Chunk it was made in


@dataclass(frozen=True)
class Chunk:
    """Some trials in a row, and the core before and after: (cycle, addition) in ticks."""

    before: tuple
    after: tuple

    def additions(self):
        """In a cycle, at both ends."""
        found = (neighbour.additions(*look) for look in (self.before, self.after))
        return [value for value in found if value is not None]

    def is_busy(self, quiet):
        """At both ends; None if the ends differ."""
        ends = {neighbour.is_busy(value, quiet) for value in self.additions()}
        return ends.pop() if len(ends) == 1 else None

    def has_stepped(self):
        """The core's clock, meanwhile."""
        return neighbour.has_stepped(self.before[0], self.after[0])


QUIET, ALL = "quiet", "all"
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


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
    """Of all trials: quantiles of |error|, the median with its sign, and of what is about it. None
    where there are too few trials."""
    signed = sorted(errors)
    bias = quantile(signed, 0.5)
    return {
        "trials": len(errors),
        **_percentiles("raw_", map(abs, errors)),
        "bias_ns": bias,
        "earliest_ns": signed[0],
        "latest_ns": signed[-1],
        **_percentiles("", (abs(error - bias) for error in errors)),
    }


def _percentiles(prefix, distances):
    ordered = sorted(distances)
    return {
        f"{prefix}{name}_ns": percentile.percentile(ordered, share)
        for name, share in SHARES.items()
    }


def quiet_level(cells):
    """What a quiet core does, by all looks of the run."""
    chunks = {id(chunk): chunk for cell in cells for chunk in cell.chunks}
    return neighbour.quiet_level([n for chunk in chunks.values() for n in chunk.additions()])


def conditions(cell, quiet):
    """How the core was: shares of trials, and how often its clock stepped."""
    if not cell.chunks:
        return {"busy_share": None, "clock_steps": None, "chunks": 0}
    chunks = {id(chunk): chunk for chunk in cell.chunks}.values()
    busy = [chunk.is_busy(quiet) is True for chunk in cell.chunks]
    return {
        "busy_share": sum(busy) / len(busy),
        "clock_steps": sum(chunk.has_stepped() for chunk in chunks),
        "chunks": len(chunks),
    }


def row(cell, instant_ticks, ticks_per_ns, quiet, subset=ALL):
    """A row of the results; None if there is no trial of this subset."""
    errors, chunks = errors_ns(cell, instant_ticks, ticks_per_ns), cell.chunks
    if subset == QUIET:
        kept = [place for place, chunk in enumerate(chunks) if chunk.is_busy(quiet) is False]
        errors = [errors[place] for place in kept]
        chunks = tuple(chunks[place] for place in kept)
    if not errors:
        return None
    return {
        "name": cell.name,
        "kind": cell.kind,
        "asked_ns": cell.asked_ns,
        "subset": subset,
        **figures(errors),
        "cpu_share": cell.cpu_ns / cell.wall_ns if cell.wall_ns else None,
        "skipped": cell.skipped,
        **conditions(replace(cell, chunks=chunks), quiet),
    }
