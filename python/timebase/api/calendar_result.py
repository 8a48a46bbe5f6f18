# SPDX-License-Identifier: MIT
"""The results of calendars: names and records of include/timebase/calendar.h, for calendar.py."""

from __future__ import annotations

import math
from dataclasses import dataclass

from timebase.api.clock import enum_of
from timebase.api.library import ffi, lib
from timebase.api.wait_result import Disturbance, flags_of

ReleaseBit = flags_of("ReleaseBit", "timebase_release_bit", "TIMEBASE_RELEASE_")
ProblemKind = enum_of("ProblemKind", "timebase_calendar_problem_kind", "TIMEBASE_CALENDAR_")


@dataclass(frozen=True)
class Problem:
    """Why a calendar is not admitted or, if a `warning`, doubtful. `unit` and `other` are indices;
    `at_ns` is after the calendar's start."""

    kind: ProblemKind
    warning: bool
    unit: int
    other: int
    at_ns: int
    text: str


@dataclass(frozen=True)
class Release:
    """One release of a unit, or `count` skipped ones. Times are monotonic."""

    unit: int
    outcome: ReleaseBit
    number: int
    count: int
    target_ns: int
    end_ns: int
    error_ns: float
    disturbance: Disturbance


@dataclass(frozen=True)
class UnitResult:
    """Counts and errors of a unit's releases. An error is begin - target in ns, with its sign.
    `errors` counts |error| in the buckets of the header."""

    released: int
    late: int
    overruns: int
    missed: int
    timed_out: int
    skipped: int
    disturbed: int
    error_min_ns: float
    error_max_ns: float
    error_sum_ns: float
    longest_ns: int
    total_ns: int
    moved_ns: int
    errors: tuple[int, ...]

    def error_quantile_ns(self, share: float) -> float | None:
        """|error| that at least `share` of the releases did not exceed: the upper end of a bucket,
        so up to 19 % too much. None without releases."""
        rank = max(1, math.ceil(share * sum(self.errors)))
        for bucket, count in enumerate(self.errors):
            rank -= count
            if count and rank <= 0:
                return lib.timebase_calendar_bucket_ns(bucket + 1)
        return None


@dataclass(frozen=True)
class TickComb:
    """Where the kernel's tick falls on a CPU. `period_ns` 0: no comb was found."""

    period_ns: int
    phase_ns: int
    width_ns: int
    share: float
    gaps: int
    longest_ns: int


def problem_from_c(out) -> Problem:
    text = ffi.string(out.text).decode("utf-8", "replace")
    return Problem(ProblemKind(out.kind), bool(out.warning), out.unit, out.other, out.at_ns, text)


def release_from_c(out) -> Release:
    values = {name: getattr(out, name) for name in Release.__dataclass_fields__}
    values["outcome"] = ReleaseBit(values["outcome"])
    values["disturbance"] = Disturbance(values["disturbance"])
    return Release(**values)


def unit_result_from_c(out) -> UnitResult:
    values = {name: getattr(out, name) for name in UnitResult.__dataclass_fields__}
    values["errors"] = tuple(values["errors"])
    return UnitResult(**values)


def comb_from_c(out) -> TickComb:
    return TickComb(**{name: getattr(out, name) for name in TickComb.__dataclass_fields__})
