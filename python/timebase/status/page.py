# SPDX-License-Identifier: MIT
"""A page that a daemon publishes: a copy of the file, as the attached clocks take it.

The file is read and never mapped, so that a process which truncates it harms no reader
(docs/threat-model.md).
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from timebase.api.clock import Clock, Instant
from timebase.api.counter import ticks_ordered
from timebase.api.errors import TimebaseError
from timebase.api.library import ffi, lib
from timebase.api.page import Page, version_of
from timebase.status.file import Opened, Refused, open_trusted

ATTEMPTS = 100  # at a consistent copy; a publication takes less than a microsecond
_SEQ_START = ffi.offsetof("struct timebase_page", "seq")
SEQ = slice(_SEQ_START, _SEQ_START + ffi.sizeof("uint64_t"))


@dataclass(frozen=True)
class SharedPage:
    """One copy. It stays as it was when it was taken, also for later ticks."""

    path: Path
    page: Page
    owner_uid: int
    mode: int

    def now(self) -> Instant:
        """What this moment's tick means by the page."""
        return self.page.convert(ticks_ordered())

    def has_expired(self, instant: Instant) -> bool:
        """Whether silence has made the status what it is: nobody has renewed the page in time."""
        after, silent_ticks = self.page.lines()["after"], self.page.validity()["silent_ticks"]
        silence = (instant.ticks - after["start_ticks"]) % 2**64
        return silent_ticks <= silence < 2**63 and instant.flags != after["flags"]

    def age_ns(self, instant: Instant) -> int:
        """How long the newest lines have been in force; 0 while they are still to come."""
        return max(0, instant.mono_ns - self.page.lines()["slew"]["mono_ns"])


def read_page(path: Path) -> SharedPage:
    """A page by which this process can tell the time. Refused says why not, and what to do."""
    shared = copy_page(path)
    if is_corrected(shared.page):
        _correct_own_counter(path)
    _require_own_counter(path, shared.page)
    return shared


def is_corrected(page: Page) -> bool:
    """Whether its ticks are corrected by CPU: the corrections lie behind it in the file."""
    return bool(page.header()["incompatible"] & lib.TIMEBASE_PAGE_CORRECTED_BY_CPU)


# What is corrected is the counter of this process, for as long as one of these is attached.
_ATTACHED: dict[Path, Clock] = {}


def _correct_own_counter(path: Path) -> None:
    """By what lies behind the page, and each time by the newest of it."""
    try:
        if path in _ATTACHED:
            _ATTACHED[path].maintain()
        else:
            _ATTACHED[path] = Clock.attach(path)
    except TimebaseError as problem:
        raise Refused(
            "format" if problem.code == lib.TIMEBASE_E_FORMAT else "counter",
            f"{path} is of ticks that are corrected by CPU, and they cannot be read: {problem}.",
            "Restart timebased, which makes page and corrections anew.",
        ) from None


def copy_page(path: Path) -> SharedPage:
    """A page of any counter: it says what ticks of that counter mean."""
    opened = open_trusted(path)
    try:
        page = Page.from_bytes(_consistent_copy(path, opened))
    finally:
        os.close(opened.descriptor)
    _validate(path, page)
    return SharedPage(path, page, opened.owner_uid, opened.mode)


def _consistent_copy(path: Path, opened: Opened) -> bytes:
    for _ in range(ATTEMPTS):
        seq = _read_seq(opened)
        data = os.pread(opened.descriptor, lib.TIMEBASE_PAGE_SIZE, 0)
        _refuse_other_version(path, version_of(data))
        if len(data) < lib.TIMEBASE_PAGE_SIZE:
            raise Refused(
                "format",
                f"{path} has {len(data)} bytes; a page has {lib.TIMEBASE_PAGE_SIZE}.",
                "Restart timebased, which replaces it; look who has truncated it.",
            )
        # As spec/page.md: the copy that seq names stays whole as long as seq does.
        if seq == data[SEQ] == _read_seq(opened):
            return data
    raise Refused(
        "torn",
        f"{path} changed during each of {ATTEMPTS} attempts to read it.",
        "No timebased writes that often: look who else does.",
    )


def _read_seq(opened: Opened) -> bytes:
    return os.pread(opened.descriptor, SEQ.stop - SEQ.start, SEQ.start)


def _refuse_other_version(path: Path, version: int | None) -> None:
    ours = lib.TIMEBASE_PAGE_VERSION
    if version in (None, ours):
        return
    raise Refused(
        "format",
        f"{path} is a page of version {version}; this program reads version {ours}.",
        "Restart timebased, which replaces it, if that has been upgraded; upgrade it if not."
        if version < ours
        else "Upgrade this program: timebased is newer.",
    )


def _validate(path: Path, page: Page) -> None:
    try:
        _without_corrections(page).validate()
    except TimebaseError as problem:
        if problem.code == lib.TIMEBASE_E_STALE:
            raise Refused(
                "empty",
                f"{path} holds no lines yet.",
                "Wait a second; if it stays so, look at the daemon's log.",
            ) from None
        if problem.code == lib.TIMEBASE_E_UNSUPPORTED:
            raise Refused(
                "format",
                f"{path} has features that this program does not know: {_features(page)}.",
                "Upgrade this program: without them it would misread the page.",
            ) from None
        raise Refused(
            "format",
            f"{path} is no page that this version can read: {problem}.",
            "Restart timebased, which replaces it; have all of one version.",
        ) from None


def _without_corrections(page: Page) -> Page:
    """The same of raw ticks: all that the library judges of a page by itself."""
    data = bytearray(page.to_bytes())
    start = ffi.offsetof("struct timebase_page", "incompatible")
    features = page.header()["incompatible"] & ~lib.TIMEBASE_PAGE_CORRECTED_BY_CPU
    data[start : start + 4] = features.to_bytes(4, sys.byteorder)
    return Page.from_bytes(bytes(data))


def _require_own_counter(path: Path, page: Page) -> None:
    own = lib.timebase_counter_id()
    theirs = page.header()["counter_id"]
    if theirs != own:
        raise Refused(
            "counter",
            f"{path} counts {counter_name(theirs)}; this process reads {counter_name(own)}.",
            "A page is of the machine it was made on. Unset TIMEBASE_COUNTER if it is set.",
        )


def _features(page: Page) -> str:
    features = page.header()["incompatible"] & ~lib.TIMEBASE_PAGE_CORRECTED_BY_CPU
    return ", ".join(f"{1 << bit:#x}" for bit in range(32) if features >> bit & 1)


def counter_name(counter_id: int) -> str:
    return ffi.string(lib.timebase_counter_name(counter_id)).decode()
