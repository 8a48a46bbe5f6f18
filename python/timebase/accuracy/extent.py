# SPDX-License-Identifier: MIT
"""How many trials there are: their number bounds a run, not a clock. The seconds are what they take
on a usual machine, for the progress bar; one ten times slower is stopped at `most` times as much.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST_SLOWER = 3.0


@dataclass(frozen=True)
class Extent:
    rounds: int  # an experiment is cut into so many slices, with a rest after each
    sweeps: int  # passes over all target offsets
    places: int  # trials at each start of the loop
    hits: int  # trials of each warm wait
    far: int  # 1 ms ahead
    idle: int  # after idle
    idle_ns: int
    work: int  # after other work
    vector: int  # after AVX-512
    cold: int  # with cold caches
    dispatch_sec: float  # each timer, load and period
    sleeps: int  # dispatches at 1 kHz
    delays: int  # trials of each delay, at most
    delay_sec: float  # and no longer than this
    seconds: dict[str, float]  # by experiment


FULL = Extent(
    rounds=40,
    sweeps=41,
    places=2000,
    hits=200_000,
    far=1_000,
    idle=200,
    idle_ns=100_000_000,
    work=2_000,
    vector=40_000,
    cold=24_000,
    dispatch_sec=0.4,
    sleeps=24_000,
    delays=40_000,
    delay_sec=0.3,
    seconds={
        "offset": 1,
        "hit": 8,
        "state": 120,
        "cold": 10,
        "timer": 29,
        "sleep": 40,
        "delay": 12,
    },
)
QUICK = Extent(
    rounds=10,
    sweeps=11,
    places=100,
    hits=20_000,
    far=100,
    idle=20,
    idle_ns=100_000_000,
    work=100,
    vector=2_000,
    cold=1_000,
    dispatch_sec=0.03,
    sleeps=1_000,
    delays=1_000,
    delay_sec=0.02,
    seconds={
        "offset": 0.3,
        "hit": 0.8,
        "state": 10,
        "cold": 0.5,
        "timer": 2.7,
        "sleep": 1.8,
        "delay": 0.8,
    },
)
