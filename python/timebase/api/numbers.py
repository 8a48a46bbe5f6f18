# SPDX-License-Identifier: MIT
"""Checks numbers before they go into C. A refusal names the argument and its range."""

from __future__ import annotations

import math
import operator

from timebase.api.clock import NS_PER_SEC

NS_PER_YEAR = 31_557_600 * NS_PER_SEC


def checked_integer(name: str, value, least: int, most: int) -> int:
    """`value` as an int within the range. TypeError if it is no integer. A bool is refused, and so
    is a float: a float cannot tell two neighbouring nanoseconds of this century apart."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}: not a number that can be waited for")
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        hint = "; write int(...)" if isinstance(value, float) else ""
        raise TypeError(f"{name} must be an integer, not {type(value).__name__} {value!r}{hint}")
    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}: must be from {least} to {most}")
    return number
