# SPDX-License-Identifier: MIT
"""Makes rows of percentiles, and points to draw, of raw errors. It leaves out no trial."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy

PERCENTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "p999_ns": 0.999}


@dataclass
class Trials:
    """Raw results of one method. Errors in ns, > 0: late."""

    error_ns: numpy.ndarray = field(default_factory=lambda: numpy.empty(0))
    bound_ns: numpy.ndarray = field(default_factory=lambda: numpy.empty(0))
    late: numpy.ndarray = field(default_factory=lambda: numpy.empty(0, bool))
    disturbance: numpy.ndarray = field(default_factory=lambda: numpy.empty(0, numpy.uint32))
    missed: int = 0  # events of a schedule that never began, as the one before was so late
    cpu_ns: int = 0
    wall_ns: int = 0

    def __len__(self) -> int:
        return len(self.error_ns)

    def add(self, more: Trials) -> None:
        for name in ("error_ns", "bound_ns", "late", "disturbance"):
            setattr(self, name, numpy.concatenate([getattr(self, name), getattr(more, name)]))
        for name in ("missed", "cpu_ns", "wall_ns"):
            setattr(self, name, getattr(self, name) + getattr(more, name))

    def where(self, chosen: numpy.ndarray) -> Trials:
        """Some of the trials, with the time of all. Misses belong to no single trial and are left
        out."""
        arrays = (self.error_ns, self.bound_ns, self.late, self.disturbance)
        return Trials(*(array[chosen] for array in arrays), 0, self.cpu_ns, self.wall_ns)

    def undisturbed(self) -> Trials:
        return self.where(self.disturbance == 0)


def quantile(values: numpy.ndarray, share) -> numpy.ndarray:
    """The smallest value that at least `share` of the values do not exceed (nearest rank)."""
    return numpy.quantile(values, share, method="inverted_cdf")


def median(values: numpy.ndarray) -> float:
    return float(quantile(values, 0.5)) if len(values) else 0.0


def digits(value: float) -> float:
    """Rounds to four digits: measurements are not better known, and files stay short."""
    return float(f"{value:.4g}")


def row(name: str, trials: Trials, *, evidence: bool = True, bias_ns: float | None = None) -> dict:
    """A row of the JSON. `bias_ns` is the median error unless given; `evidence` says whether the
    method gathers any of disturbances."""
    bias_ns = median(trials.error_ns) if bias_ns is None else bias_ns
    scheduled = len(trials) + trials.missed
    disturbed = numpy.count_nonzero(trials.disturbance)
    early = numpy.count_nonzero(trials.error_ns < -trials.bound_ns)
    return {
        "name": name,
        "trials": scheduled,
        **_percentiles(numpy.abs(trials.error_ns - bias_ns)),
        "late_share": _share(numpy.count_nonzero(trials.late) + trials.missed, scheduled),
        "disturbed_share": _share(disturbed, len(trials)) if evidence else None,
        "cpu_share": _share(trials.cpu_ns, trials.wall_ns),
        "bias_ns": digits(bias_ns),
        "early_share": _share(early, scheduled),
        "missed_share": _share(trials.missed, scheduled),
        "bound_ns": digits(median(trials.bound_ns)),
    }


def _percentiles(sizes: numpy.ndarray) -> dict:
    if not len(sizes):
        return dict.fromkeys(PERCENTILES)
    values = quantile(sizes, list(PERCENTILES.values()))
    return {name: digits(value) for name, value in zip(PERCENTILES, values)}


def _share(part: float, whole: float) -> float:
    return digits(part / whole) if whole else 0.0
