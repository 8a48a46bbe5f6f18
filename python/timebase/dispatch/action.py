# SPDX-License-Identifier: MIT
"""What a unit does, made ready before the run: looked up, loaded, checked, its memory kept."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from timebase.calendar import CFunction
from timebase.dispatch.description import Description, UnitDescription


class ActionError(Exception):
    """An action that cannot be made ready; `key` of its unit is at fault."""

    def __init__(self, key: str, what: str):
        super().__init__(what)
        self.key = key


class Action:
    """Base of the four kinds. What a kind does not say otherwise is said here."""

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


class Nothing(Action):
    """Only the beginning is measured."""

    def function(self) -> CFunction:
        from timebase._library import ffi, lib

        address = ffi.addressof(lib, "timebase_nothing")
        return CFunction(int(ffi.cast("uintptr_t", address)))

    @property
    def timeout_ns(self) -> int:
        return self.unit.timeout_ns

    def text(self) -> str:
        return "none"


def make_ready(description: Description) -> list[Action]:
    """The action of each unit. CalendarFileError with all that cannot be made ready."""
    from timebase.dispatch.program import Program
    from timebase.dispatch.script import Script
    from timebase.dispatch.shared_object import SharedObject

    kinds = {"call": SharedObject, "command": Program, "python": Script, "none": Nothing}
    ready = []
    for unit in description.units:
        try:
            ready.append(kinds[unit.action](unit, description.folder))
        except ActionError as problem:
            where = f'unit "{unit.name}": {problem.key}'
            description.source.complain(("unit", unit.index, problem.key), where, str(problem))
    description.source.finish()
    return ready
