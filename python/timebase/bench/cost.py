# SPDX-License-Identifier: MIT
"""What one call of each way to read the time costs (measure/reading_cost.h)."""

from __future__ import annotations

from typing import Callable

from timebase.api.counter import probe
from timebase.api.library import check, ffi, lib
from timebase.bench.percentile import nearest_rank
from timebase.bench.placement import pinned, quiet_cpu

ROUNDS_AT_A_TIME = 5  # between two reports of progress

Progress = Callable[[float], None]


def row_names() -> list[str]:
    count = lib.timebase_bench_rows()
    return [ffi.string(lib.timebase_bench_row_name(row)).decode() for row in range(count)]


def run(rounds: int = 200, calls: int = 1000, progress: Progress = lambda share: None) -> dict:
    """Rows of minimum, median and 90th percentile over rounds, in ns per call; the ratio is that
    of medians, to the bare counter in the same rounds. Some 4 ms a round."""
    cpu = quiet_cpu()
    period_ns = 1e9 / probe().frequency_hz
    with pinned(cpu):
        samples = _samples(rounds, calls, progress)
    rows = [_row(name, ticks, period_ns) for name, ticks in samples.items()]
    counter_ns = next(row["median_ns"] for row in rows if row["name"] == "counter")
    for row in rows:
        row["ratio_to_counter"] = row["median_ns"] / counter_ns
    return {"rounds": rounds, "calls_per_batch": calls, "cpu": cpu, "rows": rows}


def _samples(rounds: int, calls: int, progress: Progress) -> dict[str, list[float]]:
    """Ticks per call: of each row, one number per round."""
    check(lib.timebase_bench_prepare())
    names = row_names()
    out = ffi.new("double[]", len(names) * ROUNDS_AT_A_TIME)
    samples: dict[str, list[float]] = {name: [] for name in names}
    done = 0
    while done < rounds:
        now = min(ROUNDS_AT_A_TIME, rounds - done)
        lib.timebase_bench_rounds(calls, now, out)
        for index in range(now * len(names)):
            samples[names[index % len(names)]].append(out[index])
        done += now
        progress(done / rounds)
    return samples


def _row(name: str, ticks_per_call: list[float], period_ns: float) -> dict:
    ns = sorted(ticks * period_ns for ticks in ticks_per_call)
    median, p90 = (nearest_rank(ns, share) for share in (0.5, 0.9))
    return {"name": name, "min_ns": ns[0], "median_ns": median, "p90_ns": p90}
