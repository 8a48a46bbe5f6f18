# SPDX-License-Identifier: MIT
"""Percentiles, and how many values they need.

Of n values n * (1 - share) lie beyond the percentile of that share. With fewer than ten there, it
is the luck of one value or another: then there is no percentile, and tables show a dash.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

BEYOND = 10
DASH = "–"


def least_count(share: float) -> int:
    """So many values a percentile needs: 20 the median, 1,000 the 99th."""
    return math.ceil(round(BEYOND / (1 - share), 6))


def is_carried(count: int, share: float) -> bool:
    return count >= least_count(share)


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest of the ordered values that at least `share` of them do not exceed (nearest
    rank); None if there are too few."""
    return nearest_rank(ordered, share) if is_carried(len(ordered), share) else None


def nearest_rank(ordered: Sequence[float], share: float) -> float:
    """The same, of however few; one value at least."""
    return ordered[max(0, math.ceil(round(share * len(ordered), 6)) - 1)]
