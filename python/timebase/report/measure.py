# SPDX-License-Identifier: MIT
"""All that a report needs, measured one thing after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable

from timebase.accuracy import experiments, extent
from timebase.api.clock import default_clock
from timebase.api.errors import TimebaseError
from timebase.bench import bound, causality, cost, figure1, stopwatch, tracking
from timebase.doctor.examine import examine
from timebase.report.verdict import verdict
from timebase.status.examine import examine as examine_shared

HIT_EXPERIMENTS = ["offset", "hit", "sleep", "delay"]


@dataclass(frozen=True)
class Extent:
    """How long to measure; the _sec are expected durations, for the progress bar."""

    cost_rounds: int
    cost_sec: float
    figure1_repeats: int
    figure1_sec: float
    tracking_sec: float
    causality_sec_per_pair: float
    causality_sec: float
    laps: int
    laps_sec: float
    bound_sec: float
    hit: extent.Extent
    drawing_sec: float = 5

    @property
    def total_sec(self) -> float:
        return (
            self.cost_sec
            + self.figure1_sec
            + self.tracking_sec
            + self.causality_sec
            + self.laps_sec
            + self.bound_sec
            + experiments.expected_sec(self.hit, HIT_EXPERIMENTS)
            + self.drawing_sec
        )


FULL = Extent(
    cost_rounds=1000,
    cost_sec=5,
    figure1_repeats=80,
    figure1_sec=4,
    tracking_sec=60,
    causality_sec_per_pair=1.0,
    causality_sec=16,
    laps=50_000,
    laps_sec=1,
    bound_sec=3,
    hit=replace(
        extent.FULL,
        hits=100_000,
        sleeps=4_000,
        delays=5_000,
        delay_sec=0.1,
        seconds={"offset": 1, "hit": 2, "sleep": 6, "delay": 3},
    ),
)
QUICK = Extent(
    cost_rounds=150,
    cost_sec=1,
    figure1_repeats=25,
    figure1_sec=1.5,
    tracking_sec=8,
    causality_sec_per_pair=0.2,
    causality_sec=4,
    laps=10_000,
    laps_sec=0.5,
    bound_sec=1,
    hit=extent.QUICK,
)

Start = Callable[[str, float], Callable[[float], None]]


def measure(extent: Extent, start: Start) -> dict:
    """What `report --json` prints."""
    examined = examine()
    document = {
        "machine": examined["machine"],
        "quick": extent is QUICK,
        "sandwiches": tracking.SANDWICHES,
        "measured_at_utc_ns": default_clock().utc_ns(),
        "doctor": {key: value for key, value in examined.items() if key != "machine"},
        "cost": cost.run(extent.cost_rounds, 1000, start("cost per call", extent.cost_sec)),
        "figure1": figure1.run(
            repeats=extent.figure1_repeats, progress=start("figure 1", extent.figure1_sec)
        ),
        "resolution": figure1.resolution(),
        "causality": causality.run(
            extent.causality_sec_per_pair, start("causality", extent.causality_sec)
        ),
        "stopwatch": stopwatch.run(extent.laps, start("stopwatch", extent.laps_sec)),
        "hit": _hit(extent, start),
        "trust": _trust(extent, start),
        "tracking": tracking.run(extent.tracking_sec, start("tracking", extent.tracking_sec)),
    }
    # counted over the whole process, its measurements included
    document["clock_statistics"] = default_clock().statistics()
    document["verdict"] = verdict(document)
    return document


def _trust(extent: Extent, start: Start) -> dict:
    """What `status --json` prints, and the bound of this process' own clock."""
    found = bound.run(extent.bound_sec, start("bound", extent.bound_sec))
    return {"status": examine_shared(), "own": found}


def _hit(extent: Extent, start: Start) -> dict:
    """What `accuracy --json` prints, of some experiments; or why there is nothing."""
    try:
        found = experiments.run(extent.hit, names=HIT_EXPERIMENTS, start=start)
    except TimebaseError as problem:
        return {"problem": str(problem)}
    del found["machine"]
    return {"problem": None, **found, "quick": extent is QUICK}
