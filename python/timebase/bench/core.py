# SPDX-License-Identifier: MIT
"""A look at the core that the thread is on (measure/core.h); neighbour.py says what it means."""

from __future__ import annotations

from timebase.api.library import ffi, lib


def look() -> tuple[float, float, float]:
    """Ticks of an addition that waits for the one before; of one of many that do not; and of these
    in the slowest part of the look."""
    found = ffi.new("struct timebase_bench_core *")
    lib.timebase_bench_core_look(found)
    return found.cycle_ticks, found.add_ticks, found.add_most_ticks
