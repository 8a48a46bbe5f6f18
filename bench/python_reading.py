# SPDX-License-Identifier: MIT
"""What a reading costs in Python: bench/python_reading [TRIALS], lines of JSON for `make languages`.

Each row is a loop of timeit around one call, so that all pay for the loop alike. Rows take turns.
C's own inline reading takes its turns in the same process, by the loops of measure/.
"""

from __future__ import annotations

import json
import sys
import time
import timeit
from statistics import median

from timebase import Clock, default_clock, ticks
from timebase.api.library import ffi, lib
from timebase.bench.placement import pinned, quiet_cpu

CALLS = 1000
TRIALS = 501
ARRAY = 1000


def c_rows() -> dict[tuple[str, str], int]:
    """Rows of measure/ by their number."""
    names = {ffi.string(lib.timebase_bench_row_name(row)).decode(): row
             for row in range(lib.timebase_bench_rows())}  # fmt: skip
    return {
        ("utc_ns", "C inline"): names["utc"],
        ("utc_bounded", "C inline"): names["utc_interval"],
        ("mono_ns", "C inline"): names["mono"],
        ("ticks", "C inline"): names["ticks"],
    }


def python_rows(clock: Clock) -> dict:
    import numpy

    stamps = numpy.full(ARRAY, ticks(), dtype=numpy.uint64)
    handle = clock._clock  # what a reading was before the fast path: a call through cffi
    return {
        ("utc_ns", "timebase"): (clock.utc_ns, 1),
        ("utc_ns", "timebase by cffi"): (lambda: lib.timebase_utc_ns(handle), 1),
        ("utc_ns", "timebase utc_ns_array, each"): (lambda: clock.utc_ns_array(stamps), ARRAY),
        ("utc_bounded", "timebase"): (clock.interval, 1),
        ("mono_ns", "timebase"): (clock.mono_ns, 1),
        ("ticks", "timebase"): (ticks, 1),
        ("own_clock", "time.time_ns"): (time.time_ns, 1),
        ("own_clock", "time.monotonic_ns"): (time.monotonic_ns, 1),
        ("own_clock", "time.perf_counter_ns"): (time.perf_counter_ns, 1),
    }


def c_ns(row: int, period_ns: float) -> float:
    calls = ffi.new("uint64_t *", CALLS)
    taken = lib.timebase_bench_batch(row, calls)
    return taken * period_ns / calls[0]


def python_ns(timer: timeit.Timer, worth: int) -> float:
    calls = max(1, CALLS // worth)
    return timer.timeit(calls) * 1e9 / calls / worth


def measure(trials: int) -> dict[tuple[str, str], list[float]]:
    clock = default_clock()
    period_ns = 1e9 / clock.statistics()["frequency_hz"]
    readings = {key: (lambda row=row: c_ns(row, period_ns)) for key, row in c_rows().items()}
    for key, (call, worth) in python_rows(clock).items():
        timer = timeit.Timer("call()", globals={"call": call})
        readings[key] = lambda timer=timer, worth=worth: python_ns(timer, worth)
    found = {key: [] for key in readings}
    for _ in range(trials):
        for key, read in readings.items():
            found[key].append(read())
    return found


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    default_clock().now()
    lib.timebase_bench_prepare()
    time.sleep(0.2)  # the clock's frequency: its first samples
    default_clock().maintain()
    with pinned(quiet_cpu()):
        found = measure(trials)
    for (reading, who), ns in found.items():
        line = {"language": "Python", "reading": reading, "who": who}
        line |= {
            "median_ns": round(median(ns), 3),
            "p99_ns": round(sorted(ns)[len(ns) * 99 // 100], 3),
        }
        print(json.dumps({**line, "trials": len(ns)}))


if __name__ == "__main__":
    main()
