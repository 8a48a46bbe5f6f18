# SPDX-License-Identifier: MIT
"""How far from their targets units began, as `cyclictest --histogram` prints latencies: a line for each
microsecond and a column for each unit, so that what draws those draws these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy

NS_PER_US = 1000


class WholeMicroseconds:
    """Counts of |error|, in µs rounded down, as cyclictest rounds; `most_us` and above are overflows."""

    def __init__(self, most_us: int):
        self.counts = numpy.zeros(most_us, numpy.int64)
        self.overflows = 0
        self.least_us: int | None = None
        self.most_us = 0
        self.sum_us = 0

    def __len__(self) -> int:
        return int(self.counts.sum()) + self.overflows

    def add(self, errors_ns) -> None:
        found = (numpy.abs(numpy.asarray(errors_ns, float)) // NS_PER_US).astype(numpy.int64)
        if not len(found):
            return
        inside = found[found < len(self.counts)]
        self.counts += numpy.bincount(inside, minlength=len(self.counts))
        self.overflows += len(found) - len(inside)
        least = int(found.min())
        self.least_us = least if self.least_us is None else min(self.least_us, least)
        self.most_us = max(self.most_us, int(found.max()))
        self.sum_us += int(found.sum())


def lines(names: Sequence[str], columns: Sequence[WholeMicroseconds]) -> Iterator[str]:
    yield f"# |begin - target| in us, of: {' '.join(names)}"
    yield "# Histogram"
    counts = numpy.array([column.counts for column in columns])
    used = numpy.flatnonzero(counts.sum(axis=0)) if len(columns) else []
    for number in range(int(used[-1]) + 1 if len(used) else 0):
        yield f"{number:06d} " + "\t".join(f"{count:06d}" for count in counts[:, number])
    yield "# Total: " + _joined(f"{len(column):09d}" for column in columns)
    yield "# Min Latencies: " + _joined(f"{column.least_us or 0:05d}" for column in columns)
    yield "# Avg Latencies: " + _joined(f"{_average(column):05d}" for column in columns)
    yield "# Max Latencies: " + _joined(f"{column.most_us:05d}" for column in columns)
    yield "# Histogram Overflows: " + _joined(f"{column.overflows:05d}" for column in columns)


def _average(column: WholeMicroseconds) -> int:
    return column.sum_us // len(column) if len(column) else 0


def _joined(numbers) -> str:
    return " ".join(numbers)
