# SPDX-License-Identifier: MIT
"""Measures how long a few lines of Python take, less the cost of the watch itself.

    watch = Stopwatch()
    with watch as elapsed:
        work()
    print(f"{elapsed.ns:.0f} ns +/- {elapsed.uncertainty_ns:.0f}")

The C stopwatch (include/timebase/stopwatch.h) knows its own cost; entering and leaving a `with` block
costs more, and is calibrated here in the same way: by the median of many empty blocks.
"""

from __future__ import annotations

import gc
from statistics import median

from timebase.api.library import check, ffi, lib

CALIBRATION_LAPS = 501


class Elapsed:
    """Filled when its block ends; until then all are None. `ticks` may be slightly negative for
    an empty block. `uncertainty_ns` is the spread of empty blocks; disturbances come on top."""

    __slots__ = ("_lap", "ns", "ticks", "uncertainty_ns")

    def __init__(self):
        self.ns = self.uncertainty_ns = self.ticks = None

    def __repr__(self):
        if self.ns is None:
            return "Elapsed(running)"
        return f"Elapsed({self.ns:.0f} ns +/- {self.uncertainty_ns:.0f})"


class Stopwatch:
    """A context manager, to be used again and nested. Belongs to one thread. An inner block's own
    cost is taken off the outer one's time. Making one takes a few ms."""

    def __init__(self):
        self._watch = ffi.new("struct timebase_stopwatch *")
        self._running = []
        check(lib.timebase_stopwatch_calibrate(self._watch, lib.timebase_clock_default()))
        self._calibrate()

    def __enter__(self) -> Elapsed:
        elapsed = Elapsed()
        self._running.append(elapsed)
        elapsed._lap = lib.timebase_stopwatch_start(self._watch)
        return elapsed

    def __exit__(self, *_exception) -> None:
        elapsed = self._running.pop()
        found = lib.timebase_stopwatch_stop(self._watch, elapsed._lap)
        elapsed.ticks = found.ticks
        elapsed.ns = found.ns
        elapsed.uncertainty_ns = found.uncertainty_ns

    @property
    def overhead_ns(self) -> float:
        """What is subtracted from each block: the median of empty ones."""
        return self._watch.overhead_ticks * self._watch.period_ns

    def _calibrate(self) -> None:
        collecting = gc.isenabled()
        gc.disable()  # a collection in an empty block would count as a cost of the watch
        try:
            self._learn()
        finally:
            if collecting:
                gc.enable()

    def _learn(self) -> None:
        watch = self._watch
        watch.overhead_ticks = watch.pair_ticks = 0
        empty = sorted(self._empty_block() for _ in range(CALIBRATION_LAPS))
        watch.overhead_ticks = int(median(empty))
        watch.spread_ticks = empty[len(empty) * 99 // 100] - empty[0]
        watch.pair_ticks = max(
            0, int(median(self._nested_block() for _ in range(CALIBRATION_LAPS)))
        )
        watch.laps = 0

    def _empty_block(self) -> int:
        with self as elapsed:
            pass
        return elapsed.ticks

    def _nested_block(self) -> int:
        with self as outer:
            with self:
                pass
        return outer.ticks
