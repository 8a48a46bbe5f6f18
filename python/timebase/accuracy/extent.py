# SPDX-License-Identifier: MIT
"""How many trials there are: their number bounds a run, not a clock. The seconds are what they take
on a usual machine, for the progress bar; one ten times slower is stopped at `most` times as much.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST_SLOWER = 3.0


@dataclass(frozen=True)
class Extent:
    rounds: int  # the methods of an experiment take turns so often
    sweeps: int  # passes over all target offsets
    places: int  # trials at each start of the loop
    hits: int  # trials of each warm wait
    cold: int  # trials with cold caches
    dispatch_sec: float  # each timer, load and period
    sleeps: int  # dispatches at 1 kHz
    delays: int  # trials of each delay, at most
    delay_sec: float  # and no longer than this
    seconds: dict[str, float]  # by experiment


FULL = Extent(
    rounds=40,
    sweeps=41,
    places=2000,
    hits=600_000,
    cold=24_000,
    dispatch_sec=0.4,
    sleeps=24_000,
    delays=20_000,
    delay_sec=0.3,
    seconds={"offset": 1, "hit": 10, "cold": 10, "timer": 29, "sleep": 33, "delay": 9},
)
QUICK = Extent(
    rounds=10,
    sweeps=11,
    places=100,
    hits=40_000,
    cold=1_000,
    dispatch_sec=0.03,
    sleeps=1_000,
    delays=1_000,
    delay_sec=0.02,
    seconds={"offset": 0.3, "hit": 0.7, "cold": 0.5, "timer": 2.7, "sleep": 1.5, "delay": 0.8},
)
