# SPDX-License-Identifier: MIT
"""Histograms of errors over many powers of ten, as HdrHistogram has them: buckets of equal width
within each power of two, 128 of them, so that a quantile is wrong by less than 0.8 %.

The upper bits of a 32-bit float, exponent and first bits of the fraction, are the bucket's number
as they stand.
"""

from __future__ import annotations

import numpy

FRACTION_BITS = 7
SHIFT = 23 - FRACTION_BITS
LEAST_NS = 2.0**-4  # all below share the first bucket
MOST_NS = 2.0**50  # 13 days; all above share the last
COARSE = 16  # buckets put together for pictures: 8 to a power of two


def _number(ns: float) -> int:
    return int(numpy.float32(ns).view(numpy.uint32)) >> SHIFT


FIRST = _number(LEAST_NS)
BUCKETS = _number(MOST_NS) - FIRST + 1


def edges_ns() -> numpy.ndarray:
    """The lower end of each bucket, and the last one's upper end."""
    numbers = numpy.arange(FIRST, FIRST + BUCKETS + 1, dtype=numpy.uint32)
    return (numbers << SHIFT).view(numpy.float32).astype(float)


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
        values = numpy.asarray(values, numpy.float32)
        if not len(values):
            return
        numbers = (numpy.abs(values).view(numpy.uint32) >> SHIFT).astype(numpy.int64) - FIRST
        numbers = numbers.clip(0, BUCKETS - 1)
        is_below = values < 0
        self.below += numpy.bincount(numbers[is_below], minlength=BUCKETS)
        self.above += numpy.bincount(numbers[~is_below], minlength=BUCKETS)
        self.least = min(self.least, float(values.min()))
        self.most = max(self.most, float(values.max()))
        self.total += float(values.sum(dtype=float))

    def quantile(self, share: float) -> float | None:
        """|value| that `share` of all do not exceed; the middle of its bucket. None if empty."""
        counts = (self.below + self.above).cumsum()
        if not counts[-1]:
            return None
        number = int(numpy.searchsorted(counts, share * counts[-1]))
        low, high = edges_ns()[number : number + 2]
        return float(min(max((low + high) / 2, 0.0), self.size()))

    def size(self) -> float:
        """The largest |value|, exactly."""
        return max(abs(self.least), abs(self.most))

    def summary(self) -> dict | None:
        """What JSON has of it: quantiles of |value|, and extremes with their sign."""
        count = len(self)
        if not count:
            return None
        shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
        found = {name: self.quantile(share) for name, share in shares.items()}
        mean = self.total / count
        return {**found, "max": self.size(), "least": self.least, "most": self.most, "mean": mean}

    def coarse(self) -> list[dict]:
        """Eight buckets to a power of two, from the first that is not empty to the last."""
        starts = range(0, BUCKETS, COARSE)
        below = numpy.add.reduceat(self.below, starts)
        above = numpy.add.reduceat(self.above, starts)
        edges = [*edges_ns()[:BUCKETS:COARSE], edges_ns()[-1]]
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
