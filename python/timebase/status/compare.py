# SPDX-License-Identifier: MIT
"""How far a page's UTC is from CLOCK_REALTIME: the narrowest of some sandwiches.

In Python half the bracket is some 100 ns; the bound that is held against it is µs.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Callable

from timebase.api.clock import Instant
from timebase.api.counter import ticks_ordered

SANDWICHES = 30


@dataclass(frozen=True)
class Comparison:
    offset_ns: int  # page - CLOCK_REALTIME, at the middle of the bracket
    bracket_ns: int  # half its width: offset_ns is wrong by no more
    instant: Instant  # that middle, by the page

    @property
    def contradicts_bound(self) -> bool:
        """Whether the difference is larger than the bound and the bracket together."""
        return abs(self.offset_ns) > self.instant.maxerror_ns + self.bracket_ns


def compare(convert: Callable[[int], Instant], sandwiches: int = SANDWICHES) -> Comparison:
    """`convert` says what a tick means."""
    begin, kernel_ns, end = min(
        (_sandwich() for _ in range(sandwiches)), key=lambda found: found[2] - found[0]
    )
    middle = convert(begin + (end - begin) // 2)
    # The middle's rounding and the kernel's whole nanoseconds are below 1 ns each.
    bracket_ns = (convert(end).utc_ns - convert(begin).utc_ns + 1) // 2 + 2
    return Comparison(middle.utc_ns - kernel_ns, bracket_ns, middle)


def _sandwich() -> tuple:
    begin = ticks_ordered()
    kernel_ns = time.clock_gettime_ns(time.CLOCK_REALTIME)
    return begin, kernel_ns, ticks_ordered()
