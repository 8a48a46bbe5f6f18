# SPDX-License-Identifier: MIT
"""Laps of the C stopwatch around nothing and around a little work of known length
(measure/laps.h)."""

from __future__ import annotations

from statistics import quantiles
from typing import Callable

from timebase.api.library import check, ffi, lib
from timebase.bench.placement import pinned, quiet_cpu

ADDITIONS = 100  # dependent ones: about a cycle each


def run(laps: int = 20_000, progress: Callable[[float], None] = lambda share: None) -> dict:
    """Laps in ns, overhead subtracted: `empty_ns`, and `work_ns` around 100 additions."""
    watch = ffi.new("struct timebase_stopwatch *")
    with pinned(quiet_cpu()):
        empty = _laps(watch, laps, 0)
        progress(0.5)
        work = _laps(watch, laps, ADDITIONS)
        progress(1.0)
    return {
        "laps": laps,
        "additions": ADDITIONS,
        "overhead_ns": watch.overhead_ticks * watch.period_ns,
        "spread_ns": watch.spread_ticks * watch.period_ns,
        "granularity_ns": watch.granularity_ticks * watch.period_ns,
        "empty_ns": empty,
        "work_ns": work,
        "empty": _summary(empty),
        "work": _summary(work),
    }


def _laps(watch, laps: int, additions: int) -> list[float]:
    ns = ffi.new("double[]", laps)
    check(lib.timebase_bench_laps(watch, laps, additions, ns))
    return list(ns)


def _summary(ns: list[float]) -> dict:
    hundredths = quantiles(ns, n=100, method="inclusive")
    return {
        "min_ns": min(ns),
        "median_ns": hundredths[49],
        "p99_ns": hundredths[98],
        "max_ns": max(ns),
    }
