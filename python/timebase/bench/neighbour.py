# SPDX-License-Identifier: MIT
"""Finds out by looks at the core (measure/core.h) who else uses it, and whether its clock stepped.

A look says how many ticks an addition takes that waits for the one before, which is a cycle of the
core, and one of many that wait for nothing. While another thread is busy on the same core there are
fewer of these in a cycle; that thread may belong to another machine on the same host, of which no
file tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

BUSY_BELOW = 0.7  # of the additions in a cycle of a quiet core
QUIET_ABOVE = 0.9  # all through the look: a neighbour comes and goes within some 50 us
STEP = 0.05  # of the core's clock: more than a look's own error
# A quiet core makes as many additions in a cycle as the fastest looks saw, the very fastest left
# out. If the neighbour never rests that is too few, and nothing is called busy: a four-wide core
# that is alone shows some 4.
FASTEST = 0.95


def additions(cycle_ticks: float, add_ticks: float) -> float | None:
    """In a cycle of the core; None where nobody looked."""
    return cycle_ticks / add_ticks if cycle_ticks > 0 and add_ticks > 0 else None


def quiet_level(found: Sequence[float]) -> float:
    """Of all looks of a run: what a quiet core does."""
    ordered = sorted(found)
    return ordered[max(0, math.ceil(FASTEST * len(ordered)) - 1)] if ordered else 0.0


def is_busy(found: float, quiet: float) -> bool:
    return found < BUSY_BELOW * quiet


def has_stepped(before: float, after: float) -> bool:
    """Two cycles of the core, in ticks."""
    return before > 0 and after > 0 and abs(after / before - 1) > STEP
