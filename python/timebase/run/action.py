# SPDX-License-Identifier: MIT
"""What a unit does, made ready before the run: looked up, loaded, checked, its memory kept."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from timebase.api.calendar import CFunction
from timebase.run.description import UnitDescription


class ActionError(Exception):
    """An action that cannot be made ready; `key` of its unit is at fault."""

    def __init__(self, key: str, what: str):
        super().__init__(what)
        self.key = key


class Action:
    """Base of the four kinds, with the usual answers; a kind overrides those that differ."""

    # Measured beside the dispatch, where the action itself begins later: (inside of the release,
    # beginning), both monotonic ns, in order.
    marks: deque | None = None

    def __init__(self, unit: UnitDescription, folder: Path):
        self.unit = unit

    def function(self) -> CFunction:
        """What the dispatcher is to call."""
        raise NotImplementedError

    @property
    def timeout_ns(self) -> int:
        """The time-out that the dispatcher itself sees to."""
        return 0

    def text(self) -> str:
        """The action in one line, as in the file."""
        raise NotImplementedError

    def report(self) -> dict | None:
        """What the action has to tell beyond the dispatcher's results, for JSON."""
        return None

    def timed_out(self) -> int:
        """Releases that were stopped by others than the dispatcher."""
        return 0
