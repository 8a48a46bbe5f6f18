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
    maxerror_ns is the bound that the clock itself gave."""
    clock = lib.timebase_clock_default()
    found = ffi.new("struct timebase_bench_tracking *")
    samples: list[dict] = []
    start = time.monotonic()
    while (elapsed := time.monotonic() - start) < seconds or not samples:
        check(lib.timebase_bench_track(clock, SANDWICHES, found))
        samples.append(_sample(found))
        progress(min(1.0, elapsed / seconds))
        time.sleep(random.uniform(*PAUSE_SEC))
    return {"seconds": seconds, **_columns(samples), "summary": summary(samples)}


def _sample(found) -> dict:
    return {
        "mono_ns": found.mono_ns,
        "error_ns": found.error_ns,
        "bracket_ns": found.bracket_ns,
        "maxerror_ns": found.maxerror_ns,
        "status": Status(found.status).name,
    }


def _columns(samples: list[dict]) -> dict:
    start = samples[0]["mono_ns"]
    return {
        "time_sec": [(sample["mono_ns"] - start) / 1e9 for sample in samples],
        "error_ns": [sample["error_ns"] for sample in samples],
        "bracket_ns": [sample["bracket_ns"] for sample in samples],
        "maxerror_ns": [sample["maxerror_ns"] for sample in samples],
    }


def summary(samples: list[dict]) -> dict:
    """Percentiles of |error|, and how many samples contradict the bound for certain."""
    sizes = [abs(sample["error_ns"]) for sample in samples]
    outside = [
        abs(sample["error_ns"]) > sample["maxerror_ns"] + sample["bracket_ns"] for sample in samples
    ]
    # One of the samples, not a value between two: whole nanoseconds.
    p50, p90, p99 = numpy.quantile(sizes, [0.5, 0.9, 0.99], method="inverted_cdf").tolist()
    return {
        "samples": len(samples),
        "p50_ns": p50,
        "p90_ns": p90,
        "p99_ns": p99,
        "max_ns": max(sizes),
        "median_bracket_ns": median_low(sample["bracket_ns"] for sample in samples),
        "median_maxerror_ns": median_low(sample["maxerror_ns"] for sample in samples),
        "outside_bound": sum(outside),
        "statuses": sorted({sample["status"] for sample in samples}),
    }
