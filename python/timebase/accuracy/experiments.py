# SPDX-License-Identifier: MIT
"""All experiments, or one: what `timebase accuracy --json` prints."""

from __future__ import annotations

import time
from typing import Callable

from timebase.accuracy import cold, delay, hit, offset, sleep, state, timer
from timebase.accuracy.extent import FULL, QUICK, Extent
from timebase.accuracy.session import choose_cpu, describe_core, describe_waiter, session
from timebase.accuracy.verdict import judge
from timebase.api.errors import InputError
from timebase.api.machine import describe

# Name, what it is in words, and the function.
EXPERIMENTS = {
    "offset": ("error against target", offset.run),
    "hit": ("loop and exact wait", hit.run),
    "state": ("far, idle, work, vectors", state.run),
    "cold": ("cold caches", cold.run),
    "timer": ("timers and loads", timer.run),
    "sleep": ("1,000 a second", sleep.run),
    "delay": ("delays", delay.run),
}

Start = Callable[[str, float], Callable[[float], None]]


def chosen(only: str | None) -> list[str]:
    """Names of experiments."""
    if only is None:
        return list(EXPERIMENTS)
    if only not in EXPERIMENTS:
        raise InputError(f"no experiment {only!r}: there are {', '.join(EXPERIMENTS)}")
    return [only]


def expected_sec(extent: Extent, names: list[str]) -> float:
    return sum(extent.seconds[name] for name in names)


def run(
    extent: Extent = FULL,
    *,
    cpu: int | None = None,
    names: list[str] | None = None,
    seed: int | None = None,
    start: Start = lambda description, weight: lambda share: None,
) -> dict:
    names = list(EXPERIMENTS) if names is None else names
    seed = time.time_ns() % 2**32 if seed is None else seed
    begun = time.perf_counter()
    rows, figures = [], []
    with session(choose_cpu(cpu), seed) as (measuring, conditions):
        for name in names:
            words, experiment = EXPERIMENTS[name]
            found = experiment(measuring, extent, start(words, extent.seconds[name]))
            rows += found["rows"]
            figures += found["figures"]
        waiter, core = describe_waiter(measuring.waiter), describe_core(measuring.core)
        counter = measuring.counter
    return {
        "machine": describe(counter),
        "conditions": conditions,
        "waiter": waiter,
        "core": core,
        "experiments": names,
        "quick": extent is QUICK,
        "seed": seed,
        "seconds": round(time.perf_counter() - begun, 1),
        "verdict": judge(rows),
        "rows": rows,
        "figures": figures,
    }
