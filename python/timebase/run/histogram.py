# SPDX-License-Identifier: MIT
"""Histograms of errors over many powers of ten: 128 buckets to a power of two, each wider than the
one before by the same factor, so that a quantile is wrong by less than 0.3 %."""

from __future__ import annotations

import numpy

from timebase.bench.percentile import is_carried

PER_OCTAVE = 128
# From 2^-4 ns, below which all share the first bucket, to 2^50, 13 days, above which all share the
# last one.
EDGES_NS = 2.0 ** (numpy.arange(-4 * PER_OCTAVE, 50 * PER_OCTAVE + 1) / PER_OCTAVE)
BUCKETS = len(EDGES_NS) - 1
COARSE = 16  # buckets put together for pictures: 8 to a power of two
SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}


class Histogram:
    """Of |value|, those below and those above zero apart."""

    def __init__(self):
        self.below = numpy.zeros(BUCKETS, numpy.int64)
        self.above = numpy.zeros(BUCKETS, numpy.int64)
        self.least = numpy.inf
        self.most = -numpy.inf
        self.total = 0.0

    def __len__(self) -> int:
        return int(self.below.sum() + self.above.sum())

    def add(self, values) -> None:
        values = numpy.asarray(values, float)
        if not len(values):
            return
        numbers = numpy.searchsorted(EDGES_NS[1:-1], numpy.abs(values), side="right")
        is_below = values < 0
        self.below += numpy.bincount(numbers[is_below], minlength=BUCKETS)
        self.above += numpy.bincount(numbers[~is_below], minlength=BUCKETS)
        self.least = min(self.least, float(values.min()))
        self.most = max(self.most, float(values.max()))
        self.total += float(values.sum())

    def quantile(self, share: float) -> float | None:
        """|value| that `share` of all do not exceed; the middle of its bucket. None if empty."""
        counts = (self.below + self.above).cumsum()
        if not counts[-1]:
            return None
        number = int(numpy.searchsorted(counts, share * counts[-1]))
        return min(float(EDGES_NS[number : number + 2].mean()), self.size())

    def size(self) -> float:
        """The largest |value|, exactly."""
        return max(abs(self.least), abs(self.most))

    def summary(self) -> dict | None:
        """What JSON has of it: quantiles of |value|, and extremes with their sign."""
        count = len(self)
        if not count:
            return None
        found = {
            name: self.quantile(share) if is_carried(count, share) else None
            for name, share in SHARES.items()
        }
        mean = self.total / count
        return {**found, "max": self.size(), "least": self.least, "most": self.most, "mean": mean}

    def coarse(self) -> list[dict]:
        """Eight buckets to a power of two, from the first that is not empty to the last."""
        below, above = (side.reshape(-1, COARSE).sum(axis=1) for side in (self.below, self.above))
        edges = EDGES_NS[::COARSE]
        used = numpy.flatnonzero(below + above)
        if not len(used):
            return []
        return [
            {
                "from_ns": float(edges[number]),
                "to_ns": float(edges[number + 1]),
                "before": int(below[number]),
                "after": int(above[number]),
            }
            for number in range(used[0], used[-1] + 1)
        ]
