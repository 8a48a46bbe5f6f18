# SPDX-License-Identifier: MIT
"""How well the clock follows CLOCK_REALTIME (measure/tracking.h)."""

from __future__ import annotations

import random
import time
from statistics import median_low
from typing import Callable

import numpy

from timebase.api.clock import Status
from timebase.api.library import check, ffi, lib

SANDWICHES = 300
# The pauses are random, and shorter than the 100 ms between the clock's own comparisons with the
# kernel, so that samples fall everywhere between two comparisons, not always just after one.
PAUSE_SEC = (0.02, 0.06)


def run(seconds: float = 60, progress: Callable[[float], None] = lambda share: None) -> dict:
    """Samples over `seconds`: error_ns is timebase - CLOCK_REALTIME, exact to bracket_ns;
    maxerror_ns and esterror_ns are the bound and the estimate that the clock itself gave."""
    clock = lib.timebase_clock_default()
    samples: list[dict] = []
    start = time.monotonic()
    while (elapsed := time.monotonic() - start) < seconds or not samples:
        samples.append(take(clock))
        progress(min(1.0, elapsed / seconds))
        pause()
    return {"seconds": seconds, **_columns(samples), "summary": summary(samples)}


def pause() -> None:
    time.sleep(random.uniform(*PAUSE_SEC))


def take(clock) -> dict:
    """One sample of a timebase_clock *."""
    found = ffi.new("struct timebase_bench_tracking *")
    check(lib.timebase_bench_track(clock, SANDWICHES, found))
    return {
        "mono_ns": found.mono_ns,
        "error_ns": found.error_ns,
        "bracket_ns": found.bracket_ns,
        "maxerror_ns": found.maxerror_ns,
        "esterror_ns": found.esterror_ns,
        "status": Status(found.status).name,
    }


def is_within(sample: dict, width: str) -> bool:
    """Whether the error may be as small as the sample's `width`, maxerror_ns or esterror_ns: half
    the bracket is the comparison's own doubt, and not held against the clock."""
    return abs(sample["error_ns"]) - sample["bracket_ns"] <= sample[width]


def percentiles(values: list[int], shares: list[float]) -> list[int]:
    """Each is one of the values, not a value between two: whole nanoseconds."""
    return numpy.quantile(values, shares, method="inverted_cdf").tolist()


def _columns(samples: list[dict]) -> dict:
    start = samples[0]["mono_ns"]
    return {
        "time_sec": [(sample["mono_ns"] - start) / 1e9 for sample in samples],
        "error_ns": [sample["error_ns"] for sample in samples],
        "bracket_ns": [sample["bracket_ns"] for sample in samples],
        "maxerror_ns": [sample["maxerror_ns"] for sample in samples],
        "esterror_ns": [sample["esterror_ns"] for sample in samples],
    }


def summary(samples: list[dict]) -> dict:
    """Percentiles of |error|, and how many samples contradict bound and estimate for certain."""
    sizes = [abs(sample["error_ns"]) for sample in samples]
    p50, p90, p99 = percentiles(sizes, [0.5, 0.9, 0.99])
    return {
        "samples": len(samples),
        "p50_ns": p50,
        "p90_ns": p90,
        "p99_ns": p99,
        "max_ns": max(sizes),
        "median_bracket_ns": median_low(sample["bracket_ns"] for sample in samples),
        "median_maxerror_ns": median_low(sample["maxerror_ns"] for sample in samples),
        "median_esterror_ns": median_low(sample["esterror_ns"] for sample in samples),
        "outside_bound": sum(not is_within(sample, "maxerror_ns") for sample in samples),
        "outside_estimate": sum(not is_within(sample, "esterror_ns") for sample in samples),
        "statuses": sorted({sample["status"] for sample in samples}),
    }
