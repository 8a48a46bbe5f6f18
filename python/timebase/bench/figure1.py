# SPDX-License-Identifier: MIT
"""Figure 1 of the 2007 article: execution time against number of invocations, and what its clock
resolves."""

from __future__ import annotations

from collections import Counter as Tally
from typing import Callable

from timebase.api.counter import probe
from timebase.api.library import check, ffi, lib
from timebase.bench.cost import row_names
from timebase.bench.placement import pinned, quiet_cpu

NAMES = ("utc", "utc_unordered", "tb_nano_2007", "tb_libc_2007", "gettimeofday")
STAIRS_SHOWN = 150
STAIRS_COUNTED = 50_000


def run(
    most: int = 100_000,
    points: int = 10,
    repeats: int = 30,
    progress: Callable[[float], None] = lambda share: None,
) -> dict:
    """The least of `repeats` times, in µs, of each clock at each number of invocations. Runs of
    2 ms at most: some of them pass undisturbed on a busy machine."""
    us_per_tick = 1e6 / probe().frequency_hz
    rows = {name: row for row, name in enumerate(row_names()) if name in NAMES}
    calls = [most * point // points for point in range(1, points + 1)]
    best = {name: [float("inf")] * points for name in NAMES}
    with pinned(quiet_cpu()):
        check(lib.timebase_bench_prepare())
        for repeat in range(repeats):
            for point, count in enumerate(calls):
                for name in NAMES:
                    took = lib.timebase_bench_batch(rows[name], ffi.new("uint64_t *", count))
                    best[name][point] = min(best[name][point], took * us_per_tick)
                progress((repeat * points + point + 1) / (repeats * points))
    return {"calls": calls, "time_us": best}


def resolution() -> dict:
    """Readings in a row of the article's clock beside ours: both against the counter, in ns."""
    period_ns = 1e9 / probe().frequency_hz
    steps = ffi.new("struct timebase_bench_step[]", STAIRS_COUNTED)
    lib.timebase_bench_staircase(STAIRS_COUNTED, steps)
    shown = steps[0:STAIRS_SHOWN]
    first = steps[0]
    return {
        "elapsed_ns": [(step.ticks - first.ticks) * period_ns for step in shown],
        "utc_ns": [step.utc_ns - first.utc_ns for step in shown],
        # against the same zero, so that its lag is seen as well
        "tb_nano_2007_ns": [step.tb_nano_ns - first.utc_ns for step in shown],
        "tb_nano_2007_steps_ns": _common_steps([step.tb_nano_ns for step in steps]),
        "utc_steps_ns": _common_steps([step.utc_ns for step in steps]),
    }


def _common_steps(readings: list[int]) -> list[dict]:
    """The four commonest non-zero differences between neighbours, and how often they came."""
    steps = Tally(after - before for before, after in zip(readings, readings[1:]))
    del steps[0]
    return [{"step_ns": step, "times": times} for step, times in steps.most_common(4)]
