# SPDX-License-Identifier: MIT
"""What the bound of this process' own clock is made of, and how it grows and shrinks in use."""

from __future__ import annotations

import time
from typing import Callable

from timebase.api.clock import default_clock
from timebase.api.errors import TimebaseError
from timebase.api.library import ffi, lib
from timebase.api.page import Page

PAUSE_SEC = 0.002  # a fiftieth of the time between two comparisons with the kernel
ATTEMPTS = 100
BOTH, REALTIME, UTC = ["realtime", "utc"], ["realtime"], ["utc"]


def run(seconds: float = 3, progress: Callable[[float], None] = lambda share: None) -> dict:
    """{"problem": None or why there is no anatomy, "bounds", "esterror_ns", "terms",
    "sawtooth"}."""
    sawtooth = _sawtooth(seconds, progress)
    try:
        bracket_ns = default_clock().statistics()["bracket_ns"]
        found = anatomy(_own_page(), bracket_ns)
    except TimebaseError as problem:
        return {
            "problem": str(problem),
            "bounds": None,
            "esterror_ns": None,
            "terms": [],
            "sawtooth": sawtooth,
        }
    return {"problem": None, **found, "sawtooth": sawtooth}


def _own_page() -> Page:
    """A copy of the default clock's page, as spec/page.md says."""
    shared = ffi.cast("struct timebase_page *", lib.timebase_clock_default())
    for _ in range(ATTEMPTS):
        page = Page.from_bytes(bytes(ffi.buffer(shared, lib.TIMEBASE_PAGE_SIZE)))
        if page.header()["seq"] == shared.seq:
            page.validate()  # a clock over the OS counter shows no lines: STALE
            return page
    raise TimebaseError("the clock was renewed during each attempt to copy its page")


def anatomy(page: Page, bracket_ns: int) -> dict:
    """The terms at the last tick before the lines want renewal, when the bound is widest.

    `bracket_ns`: half-width of the latest comparison, which is part of the bound at the line's
    start. The terms of a question add up to its bound, to the nanosecond.
    """
    after, d = page.lines()["after"], page.header()["refresh_ticks"]
    comparison_ns = min(bracket_ns, after["maxerror_ns"])
    terms = [
        ("comparison", comparison_ns, BOTH),
        ("line", after["maxerror_ns"] - comparison_ns, BOTH),
        ("oscillator", d * after["drift_rate"] >> 32, BOTH),
        ("slewing", d * after["slew_rate"] >> 32, REALTIME),
        ("claim", after["utc_maxerror_ns"], UTC),
    ]
    widest = page.convert((after["start_ticks"] + d) % 2**64)
    return {
        "bounds": {"realtime_ns": widest.maxerror_ns, "utc_ns": widest.utc_maxerror_ns},
        "esterror_ns": widest.esterror_ns,
        "terms": [{"name": name, "ns": ns, "of": of} for name, ns, of in terms],
    }


def _sawtooth(seconds: float, progress: Callable[[float], None]) -> dict:
    """From the first comparison on that the clock makes: before it the bound is that of a clock
    which nobody has used for a while."""
    clock, samples = default_clock(), []
    _renew(clock)
    start = time.monotonic()
    while (elapsed := time.monotonic() - start) < seconds or not samples:
        samples.append(clock.now())
        progress(min(1.0, elapsed / seconds))
        time.sleep(PAUSE_SEC)
    first = samples[0].mono_ns
    return {
        "time_sec": [(sample.mono_ns - first) / 1e9 for sample in samples],
        "maxerror_ns": [sample.maxerror_ns for sample in samples],
        "utc_maxerror_ns": [sample.utc_maxerror_ns for sample in samples],
    }


def _renew(clock) -> None:
    before = clock.statistics()["samples"]
    for _ in range(ATTEMPTS):
        clock.now()
        if clock.statistics()["samples"] != before:
            return
        time.sleep(PAUSE_SEC)
