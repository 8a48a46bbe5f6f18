# SPDX-License-Identifier: MIT
"""What waiting must reach, and what a run of `timebase accuracy` says of it.

A goal is of |error| itself and of its spread about the median, or of one number alone. Most are
ratios to the naive loop, whose blocks lay between those of the wait in the same process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Callable

THIRD = 1 / 3
DELAYS = ("200ns", "500ns", "1us", "2us", "5us", "10us", "20us", "50us", "100us")

Rows = dict[str, dict]


@dataclass(frozen=True)
class Goal:
    words: str
    must: float
    spread: Callable[[Rows], float | None] | None  # None: the goal is of one number
    raw: Callable[[Rows], float | None]
    show: str = "{:.2f}"

    def values(self, runs: list[Rows], of: str) -> list[float]:
        """Of those runs that have it: trials enough, and the core as it must be."""
        measure = getattr(self, of)
        found = [measure(rows) for rows in runs] if measure else []
        return [value for value in found if value is not None]

    def is_met(self, runs: list[Rows]) -> bool | None:
        """By the medians of the runs; None: nothing was measured."""
        kinds = ["raw"] if self.spread is None else ["spread", "raw"]
        found = [self.values(runs, kind) for kind in kinds]
        if not all(found):
            return None
        return all(median(values) <= self.must for values in found)


def _of(row: str, key: str) -> Callable[[Rows], float | None]:
    return lambda rows: rows[row][key] if row in rows else None


def _ratio(row: str, loop: str, key: str) -> Callable[[Rows], float | None]:
    def ratio(rows: Rows) -> float | None:
        pair = [rows[name][key] if name in rows else None for name in (row, loop)]
        return pair[0] / pair[1] if None not in pair and pair[1] else None

    return ratio


def against_loop(words: str, row: str, loop: str, percentile: str, must: float) -> Goal:
    keys = f"{percentile}_ns", f"raw_{percentile}_ns"
    return Goal(f"{words}, {percentile}", must, *(_ratio(row, loop, key) for key in keys))


def within(words: str, row: str, percentile: str, must_ns: float) -> Goal:
    keys = f"{percentile}_ns", f"raw_{percentile}_ns"
    named = f"{words}, {percentile}"
    return Goal(named, must_ns, *(_of(row, key) for key in keys), show="{:.1f} ns")


def bias(words: str, names: tuple[str, ...]) -> Goal:
    """The worst of them."""

    def worst(rows: Rows) -> float | None:
        found = [abs(rows[name]["bias_ns"]) for name in names if name in rows]
        return max(found) if found else None

    return Goal(words, 1.0, None, worst, show="{:.1f} ns")


def share(words: str, row: str, key: str, must: float) -> Goal:
    return Goal(words, must, None, _of(row, key), show="{:.2%}")


def goals() -> Iterator[Goal]:
    for percentile in ("p50", "p90", "p95", "p99"):
        words = "exact / loop, core quiet"
        yield against_loop(words, "exact_quiet", "loop_quiet", percentile, THIRD)
    for percentile, must in (("p50", 1 / 1.7), ("p90", 1 / 1.7), ("p95", 0.8)):
        words = "exact / loop, core shared"
        yield against_loop(words, "exact_busy", "loop_busy", percentile, must)
    words = "steady / loop, core shared"
    yield against_loop(words, "exact_steady_busy", "loop_busy", "p99", 1.0)
    yield bias("bias, waits", ("exact", "exact_until"))
    yield bias("bias, the worst delay of 200 ns to 100 µs", tuple(f"delay_{ns}" for ns in DELAYS))
    for words, row in (("1 ms ahead", "rehearsed_far"), ("after 100 ms idle", "rehearsed_idle")):
        yield within(words, row, "p50", 1.5)
        yield within(words, row, "p95", 9.0)
    yield within("delay of 200 ns, core quiet", "delay_200ns_quiet", "p99", 1.6)
    yield within("delay of 1 µs, core quiet", "delay_1us_quiet", "p99", 2.4)
    asleep = "sleep_then_wait_1khz"
    for percentile in ("p50", "p90"):
        words = "sleep then wait / loop, 1 kHz"
        yield against_loop(words, asleep, "loop_1khz", percentile, 1.0)
    yield share("the same, late", asleep, "late_share", 0.015)
    yield share("the same, CPU", asleep, "cpu_share", 0.05)
    yield within("event prepared, caches cold", "event_cold_prepared", "p90", 12.0)
    yield within("event rehearsed, caches cold", "event_cold_rehearsed", "p90", 12.0)


MET = {True: "yes", False: "**no**", None: "–"}


def lines(runs: list[Rows]) -> Iterator[str]:
    """A table in Markdown: medians of the runs, and all of them."""
    yield "| figure | must | about the median | raw | met |"
    yield "|---|---:|---:|---:|---|"
    for goal in goals():
        cells = [_cell(goal, runs, of) for of in ("spread", "raw")]
        must = goal.show.format(goal.must)
        met = MET[goal.is_met(runs)]
        yield f"| {goal.words} | ≤ {must} | {' | '.join(cells)} | {met} |"


def _cell(goal: Goal, runs: list[Rows], of: str) -> str:
    if of == "spread" and goal.spread is None:
        return ""
    values = goal.values(runs, of)
    if not values:
        return "–"
    each = ", ".join(goal.show.format(value) for value in values)
    return f"{goal.show.format(median(values))} ({each})"
