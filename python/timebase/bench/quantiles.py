# SPDX-License-Identifier: MIT
"""Quantiles of a list, without numpy, which some verbs do not need otherwise."""

from __future__ import annotations

from collections.abc import Sequence


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    rank = -int(-share * len(ordered) // 1) - 1
    return ordered[min(max(rank, 0), len(ordered) - 1)]
