# SPDX-License-Identifier: MIT
"""Makes rows of raw errors: |error| as it is, the bias, and the spread about the median. It leaves
out no trial, and gives no percentile that so few trials cannot carry."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy

from timebase.accuracy.core import LOOK
from timebase.bench.percentile import percentile

SHARES = {"p50_ns": 0.5, "p90_ns": 0.9, "p95_ns": 0.95, "p99_ns": 0.99, "p999_ns": 0.999}
LOOP = 1  # TIMEBASE_MECHANISM_LOOP
NO_MECHANISM = -1
ARRAYS = ("error_ns", "bound_ns", "late", "disturbance", "mechanism")
SUMS = ("missed", "cpu_ns", "wall_ns")


@dataclass
class Trials:
    """Raw results of one method. Errors in ns, > 0: late."""

    error_ns: numpy.ndarray = field(default_factory=lambda: numpy.empty(0, float))
    bound_ns: numpy.ndarray = field(default_factory=lambda: numpy.empty(0, float))
    late: numpy.ndarray = field(default_factory=lambda: numpy.empty(0, bool))
    disturbance: numpy.ndarray = field(default_factory=lambda: numpy.empty(0, numpy.uint32))
    mechanism: numpy.ndarray = field(default_factory=lambda: numpy.empty(0, numpy.int32))
    block: numpy.ndarray = field(
        default_factory=lambda: numpy.empty(0, int)
    )  # of each trial: its place in `looks`
    looks: numpy.ndarray = field(
        default_factory=lambda: numpy.empty(0, LOOK)
    )  # at the core, before and after each block
    missed: int = 0  # events of a schedule that never began, as the one before was so late
    cpu_ns: int = 0
    wall_ns: int = 0

    def __len__(self) -> int:
        return len(self.error_ns)

    def where(self, chosen: numpy.ndarray) -> Trials:
        """Some of the trials, with the time of all. Misses belong to no single trial and are left
        out."""
        arrays = {name: getattr(self, name)[chosen] for name in (*ARRAYS, "block")}
        return Trials(**arrays, looks=self.looks, cpu_ns=self.cpu_ns, wall_ns=self.wall_ns)

    def undisturbed(self) -> Trials:
        return self.where(self.disturbance == 0)

    def blocks(self) -> numpy.ndarray:
        """The looks at those blocks that these trials are of."""
        return self.looks[numpy.unique(self.block)]


def joined(parts: list[Trials]) -> Trials:
    """All trials of all parts, in their order."""
    if not parts:
        return Trials()
    before = numpy.cumsum([0, *(len(part.looks) for part in parts[:-1])])
    return Trials(
        **{name: numpy.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS},
        block=numpy.concatenate([part.block + first for part, first in zip(parts, before)]),
        looks=numpy.concatenate([part.looks for part in parts]),
        **{name: sum(getattr(part, name) for part in parts) for name in SUMS},
    )


def quantile(values: numpy.ndarray, share) -> numpy.ndarray:
    """The smallest value that at least `share` of the values do not exceed (nearest rank)."""
    return numpy.quantile(values, share, method="inverted_cdf")


def median(values: numpy.ndarray) -> float:
    return float(quantile(values, 0.5)) if len(values) else 0.0


def digits(value: float) -> float:
    """Rounds to four digits: measurements are not better known, and files stay short."""
    return float(f"{value:.4g}")


def row(
    name: str,
    trials: Trials,
    *,
    scenario: str = "",
    method: str = "",
    subset: str = "all",
    share: float = 1.0,
    evidence: bool = True,
    conditions: dict | None = None,
) -> dict:
    """A row of the JSON. `evidence` says whether the method gathers any of disturbances; `share`
    is that of a subset in all trials of the method."""
    bias_ns = median(trials.error_ns)
    scheduled = len(trials) + trials.missed
    return {
        "name": name,
        "scenario": scenario or name,
        "method": method or name,
        "subset": subset,
        "share": digits(share),
        "trials": scheduled,
        **{f"raw_{key}": value for key, value in _percentiles(trials.error_ns).items()},
        "bias_ns": digits(bias_ns),
        **_percentiles(trials.error_ns - bias_ns),
        **_shares(trials, scheduled, evidence),
        "bound_ns": digits(median(trials.bound_ns)),
        "conditions": conditions,
    }


def _shares(trials: Trials, scheduled: int, evidence: bool) -> dict:
    disturbed = numpy.count_nonzero(trials.disturbance)
    early = numpy.count_nonzero(trials.error_ns < -trials.bound_ns)
    told = trials.mechanism != NO_MECHANISM
    loops = numpy.count_nonzero(trials.mechanism == LOOP)
    return {
        "late_share": _share(numpy.count_nonzero(trials.late) + trials.missed, scheduled),
        "early_share": _share(early, scheduled),
        "missed_share": _share(trials.missed, scheduled),
        "disturbed_share": _share(disturbed, len(trials)) if evidence else None,
        "loop_share": _share(loops, len(trials)) if evidence and told.any() else None,
        "cpu_share": _share(trials.cpu_ns, trials.wall_ns),
    }


def _percentiles(errors: numpy.ndarray) -> dict:
    sizes = numpy.sort(numpy.abs(errors))
    found = {name: percentile(sizes, share) for name, share in SHARES.items()}
    return {name: None if value is None else digits(value) for name, value in found.items()}


def _share(part: float, whole: float) -> float:
    return digits(part / whole) if whole else 0.0
