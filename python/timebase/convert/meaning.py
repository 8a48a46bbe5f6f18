# SPDX-License-Identifier: MIT
"""What ticks mean: by a timeline, or by a page as it is now."""

from __future__ import annotations

import os
import stat
import uuid
from typing import NamedTuple

from timebase.api.clock import Instant
from timebase.api.errors import InputError, TimebaseError


class Meaning(NamedTuple):
    """An instant, or the reason why there is none."""

    instant: Instant | None
    reason: str | None


class ByTimeline:
    def __init__(self, folder: str, boot: str | None, draw_on: bool):
        from timebase.api.timeline import Timeline

        self.name = f"timeline {folder}"
        self._timeline = Timeline(folder, draw_on=draw_on)
        self._boot = _boot(self._timeline, boot)
        self._reasons: dict = {}

    def of(self, ticks: list[int]) -> list[Meaning]:
        import numpy

        found = self._timeline.at_many(numpy.array(ticks, numpy.uint64), self._boot)
        rows = zip(*(array.tolist() for array in found))
        return [
            Meaning(None, self._timeline.explain(error, values[0], self._boot))
            if error
            else Meaning(Instant(*values), None)
            for *values, error in rows
        ]

    @property
    def boots(self):
        return self._timeline.boots

    @property
    def gaps(self):
        return self._timeline.gaps

    @property
    def damages(self):
        return self._timeline.damages


def _boot(timeline, text: str | None):
    """A boot by its id, or by as much of its beginning as tells it from the others."""
    if text is None:
        return None
    boots = {boot.id for boot in timeline.boots}
    fitting = [boot for boot in boots if str(boot).startswith(text.lower())]
    if len(fitting) == 1 and text:
        return fitting[0]
    try:
        return uuid.UUID(text)
    except ValueError:
        what = "several boots begin so" if fitting and text else "no boot of the timeline begins so"
        raise InputError(f"--boot {text}: {what}; --boots lists them") from None


class ByPage:
    """One look at a page: right for ticks of the last quarter of a second, else drawn on."""

    def __init__(self, path: str):
        from timebase.api.library import ffi
        from timebase.api.page import Page

        self.name = f"page {path}"
        data = _read_page(path, ffi.sizeof("struct timebase_page"))
        self._page = Page.from_bytes(data)
        try:
            self._page.validate()
        except TimebaseError as problem:
            raise TimebaseError(f"page {path}: {problem}", problem.code) from None

    def of(self, ticks: list[int]) -> list[Meaning]:
        return [Meaning(self._page.convert(tick), None) for tick in ticks]


def _read_page(path: str, size: int) -> bytes:
    """The bytes of a page between two equal looks at its number: it may be renewed meanwhile."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise TimebaseError(f"page {path}: not a plain file")
        for _ in range(1000):
            number, data = os.pread(fd, 8, 0), os.pread(fd, size, 0)
            if data[:8] == number == os.pread(fd, 8, 0):
                return data
    finally:
        os.close(fd)
    raise TimebaseError(f"page {path}: no consistent copy in 1,000 attempts")
