# SPDX-License-Identifier: MIT
"""Does time go backwards between cores? (measure/causality.h)"""

from __future__ import annotations

from typing import Callable

from timebase.api.counter import probe
from timebase.api.library import check, ffi, lib
from timebase.bench.placement import allowed_cpus

MOST_PARTNERS = 3  # CPUs tried against the first one, spread over the machine


def cpu_pairs(cpus: list[int]) -> list[tuple[int, int]]:
    """The first CPU with up to MOST_PARTNERS others, in both directions."""
    others = cpus[1:]
    stride = max(1, len(others) // MOST_PARTNERS)
    partners = others[::-stride][:MOST_PARTNERS]
    return [pair for other in partners for pair in ((cpus[0], other), (other, cpus[0]))]


def run(seconds: float = 0.5, progress: Callable[[float], None] = lambda share: None) -> dict:
    """For each clock, over all pairs of CPUs, `seconds` each: readings that followed another
    core's, how many of them were smaller, and by how much at worst. No rows on a single CPU."""
    pairs = cpu_pairs(allowed_cpus())
    if not pairs:
        progress(1.0)
        return {"pairs": [], "rows": []}
    ns_per_tick = 1e9 / probe().frequency_hz
    count = lib.timebase_bench_causality_rows()
    rows = []
    for row in range(count):
        rows.append(_row(row, pairs, seconds, ns_per_tick))
        progress((row + 1) / count)
    return {"pairs": [list(pair) for pair in pairs], "seconds_per_pair": seconds, "rows": rows}


def _row(row: int, pairs: list[tuple[int, int]], seconds: float, ns_per_tick: float) -> dict:
    found = ffi.new("struct timebase_bench_causality *")
    reads = violations = worst = 0
    for publisher, reader in pairs:
        check(lib.timebase_bench_causality(row, publisher, reader, int(seconds * 1000), found))
        reads += found.reads
        violations += found.violations
        worst = max(worst, found.worst)
    unit = ffi.string(lib.timebase_bench_causality_unit(row))
    return {
        "name": ffi.string(lib.timebase_bench_causality_name(row)).decode(),
        "reads": reads,
        "violations": violations,
        "worst_ns": worst * (ns_per_tick if unit == b"ticks" else 1.0),
    }
