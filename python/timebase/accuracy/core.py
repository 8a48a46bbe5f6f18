# SPDX-License-Identifier: MIT
"""The core under the trials: who else used it, and whether its clock stepped, by the rules of
timebase.bench.neighbour."""

from __future__ import annotations

import numpy

from timebase.bench.core import look
from timebase.bench.neighbour import BUSY_BELOW, FASTEST, QUIET_ABOVE, STEP

LOOK = numpy.dtype(
    [(f"{name}_{end}", "f8") for end in ("before", "after") for name in ("cycle", "add", "most")]
)
FIRST_LOOKS = 400

QUIET, MIXED, BUSY = 0, 1, 2


class Core:
    """What all looks of a session have in common."""

    def __init__(self):
        self.quiet = 0.0  # additions in a cycle
        self._seen: list[numpy.ndarray] = []
        self.learn(numpy.concatenate([look_once() for _ in range(FIRST_LOOKS)]))

    def learn(self, looks: numpy.ndarray) -> None:
        self._seen.append(additions(looks).ravel())
        known = numpy.concatenate(self._seen)
        self.quiet = float(numpy.nanquantile(known, FASTEST, method="inverted_cdf"))

    def sibling(self, looks: numpy.ndarray) -> numpy.ndarray:
        """QUIET or BUSY if both looks at a block say so, all through, else MIXED."""
        if not len(looks):
            return numpy.empty(0, int)
        best, worst = additions(looks), additions(looks, "most")
        unknown = numpy.isnan(best)
        busy = (unknown | (best < BUSY_BELOW * self.quiet)).all(1) & ~unknown.all(1)
        quiet = (unknown | (worst > QUIET_ABOVE * self.quiet)).all(1)
        return numpy.where(busy, BUSY, numpy.where(quiet, QUIET, MIXED))


def look_once() -> numpy.ndarray:
    """One look, as a block that lasted no time."""
    return numpy.array([look() * 2], LOOK)


def around(before: numpy.ndarray, after: numpy.ndarray) -> numpy.ndarray:
    """The look at a block between two looks."""
    whole = before.copy()
    for name in ("cycle_after", "add_after", "most_after"):
        whole[name] = after[name]
    return whole


def additions(looks: numpy.ndarray, part: str = "add") -> numpy.ndarray:
    """[block, before and after]: additions in a cycle, in the best part of a look or in the worst
    ("most"); NaN where nobody looked."""
    ends = ("before", "after")
    columns = [_ratio(looks[f"cycle_{end}"], looks[f"{part}_{end}"]) for end in ends]
    return numpy.stack(columns, axis=1)


def clock_steps(looks: numpy.ndarray) -> int | None:
    """During how many blocks the core's clock changed; None if nobody looked at both ends."""
    change = _ratio(looks["cycle_after"], looks["cycle_before"])
    if not numpy.isfinite(change).any():
        return None
    return int(numpy.count_nonzero(numpy.abs(change - 1) > STEP))


def _ratio(over: numpy.ndarray, under: numpy.ndarray) -> numpy.ndarray:
    return numpy.divide(over, under, out=numpy.full(len(over), numpy.nan), where=under > 0)
