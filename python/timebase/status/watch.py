# SPDX-License-Identifier: MIT
"""A clock watched for a while: samples, and what changed between them."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Callable

from timebase.api.clock import default_clock
from timebase.api.library import check, ffi, lib
from timebase.status.compare import compare
from timebase.status.file import Refused
from timebase.status.judge import refusal
from timebase.status.page import read_page
from timebase.text.utc import iso_utc

REMEMBERED = 60  # samples, for the pictures
LOGGED = 8  # changes, for the screen
PRIVATE_SANDWICHES = 100
NO_PAGE = "NO PAGE"


@dataclass(frozen=True)
class Sample:
    """What one look gave; with a `problem`, all but the state and the advice is None."""

    state: str  # a status, or NO PAGE
    problem: str | None = None
    advice: str | None = None  # against the problem
    utc: str | None = None
    utc_ns: int | None = None
    mono_ns: int | None = None
    offset_ns: int | None = None  # clock - CLOCK_REALTIME
    bracket_ns: int | None = None  # offset_ns is wrong by no more
    esterror_ns: int | None = None
    maxerror_ns: int | None = None
    utc_maxerror_ns: int | None = None
    age_ns: int | None = None  # None: a private clock, which its reader renews
    publications: int | None = None
    late_publications: int | None = None
    utc_steps: int | None = None
    disruptions: int | None = None


def page_sampler(path: Path) -> Callable[[], Sample]:
    """Opens the file at each look, so that a replaced page is noticed and a missing one waited
    for."""

    def sample() -> Sample:
        try:
            shared = read_page(path)
        except Refused as refused:
            reason = refusal(refused)
            return Sample(NO_PAGE, problem=reason.text, advice=reason.advice)
        found, header = compare(shared.page.convert), shared.page.header()
        return Sample(
            **_of_instant(found.instant),
            offset_ns=found.offset_ns,
            bracket_ns=found.bracket_ns,
            age_ns=shared.age_ns(found.instant),
            publications=header["seq"],
            late_publications=header["late_count"],
            utc_steps=header["utc_step_count"],
            disruptions=header["disruption_marker"],
        )

    return sample


def private_sampler() -> Callable[[], Sample]:
    clock, out = default_clock(), ffi.new("struct timebase_bench_tracking *")

    def sample() -> Sample:
        check(lib.timebase_bench_track(lib.timebase_clock_default(), PRIVATE_SANDWICHES, out))
        counts = clock.statistics()
        disruptions = ("suspends", "counter_jumps", "counter_backwards")
        return Sample(
            **_of_instant(clock.now()),
            offset_ns=out.error_ns,
            bracket_ns=out.bracket_ns,
            publications=counts["publications"],
            late_publications=counts["late_publications"],
            utc_steps=counts["utc_steps"],
            disruptions=sum(counts[name] for name in disruptions),
        )

    return sample


def _of_instant(instant) -> dict:
    return {
        "state": instant.status.name,
        "utc": iso_utc(instant.utc_ns),
        "utc_ns": instant.utc_ns,
        "mono_ns": instant.mono_ns,
        "esterror_ns": instant.esterror_ns,
        "maxerror_ns": instant.maxerror_ns,
        "utc_maxerror_ns": instant.utc_maxerror_ns,
    }


COUNTED = {
    "late_publications": "late publications",
    "utc_steps": "steps of UTC",
    "disruptions": "disruptions",
}


class Watch:
    """The latest samples, and the changes that they showed."""

    def __init__(self, sampler: Callable[[], Sample]):
        self._sampler = sampler
        self.samples: deque[Sample] = deque(maxlen=REMEMBERED)
        self.changes: deque[str] = deque(maxlen=LOGGED)
        self.read = 0  # samples without a problem, ever

    def look(self) -> dict:
        """One sample, as `watch --json` prints it: with what changed since the one before."""
        sample = self._sampler()
        changes = list(changed(self.samples[-1], sample)) if self.samples else []
        self.samples.append(sample)
        self.changes.extend(f"{sample.utc or ''} {change}".strip() for change in changes)
        self.read += sample.problem is None
        return {**asdict(sample), "changes": changes}


def changed(before: Sample, after: Sample):
    """In words."""
    if before.state != after.state:
        yield f"{before.state} -> {after.state}"
    for name, words in COUNTED.items():
        old, new = getattr(before, name), getattr(after, name)
        if old is not None and new is not None and new != old:
            yield f"{words}: {new - old:+,}" if new > old else f"{words}: counted anew, {new:,}"


BARS = "▁▂▃▄▅▆▇█"


def sparkline(values) -> str:
    """One letter a value, from the least to the greatest; a blank where there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    return "".join(" " if v is None else BARS[_height(v - low, span)] for v in values)


def _height(above: float, span: float) -> int:
    return int(above * (len(BARS) - 1) / span + 0.5) if span else 0
