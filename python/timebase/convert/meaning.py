# SPDX-License-Identifier: MIT
"""What ticks mean: by a timeline, or by a page as it is now."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import NamedTuple

from timebase.api.clock import Instant
from timebase.api.errors import InputError, TimebaseError
from timebase.api.library import lib
from timebase.api.timeline import DEFAULT_FOLDER, Timeline


class Meaning(NamedTuple):
    """An instant, or the reason why there is none."""

    instant: Instant | None
    reason: str | None


class NoTimelineError(TimebaseError):
    """What most have who try it first: the daemon keeps no history unless it is told to."""

    def __init__(self, folder: str | None):
        kept = f"{DEFAULT_FOLDER}, where timebased keeps it"
        super().__init__(f"there is no timeline: {folder or kept}: no such folder")
        self.advice = (
            f"timebased keeps one if timebased.conf says so: `timeline = {DEFAULT_FOLDER}` "
            "(`timebased --check` names that file), then `systemctl reload timebased`. Ticks from "
            "before are lost to it. For ticks of just now: --page /run/timebase/page"
        )


class ByTimeline:
    def __init__(self, folder: str | None, boot: str | None, draw_on: bool):
        self.name = f"timeline {folder or DEFAULT_FOLDER}"
        self._timeline = _open(folder, draw_on)
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


def _open(folder: str | None, draw_on: bool) -> Timeline:
    try:
        return Timeline(folder or DEFAULT_FOLDER, draw_on=draw_on)
    except TimebaseError as problem:
        if problem.code == lib.TIMEBASE_E_NOT_FOUND:
            raise NoTimelineError(folder) from None
        if problem.code == lib.TIMEBASE_E_PERMISSION:
            problem.advice = f"May this user read it? ls -la {folder or DEFAULT_FOLDER}"
        raise


def _boot(timeline, text: str | None):
    """A boot by its id, or by a beginning of the id that only one boot has."""
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
    """One copy of a page. It is exact for ticks of the last quarter of a second; for others its
    lines are drawn on."""

    def __init__(self, path: str):
        from timebase.status.page import copy_page

        self.name = f"page {path}"
        self._page = copy_page(Path(path)).page

    def of(self, ticks: list[int]) -> list[Meaning]:
        return [Meaning(self._page.convert(tick), None) for tick in ticks]
