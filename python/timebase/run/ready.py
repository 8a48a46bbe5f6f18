# SPDX-License-Identifier: MIT
"""The action of each unit, by its kind, made ready before the run."""

from __future__ import annotations

from timebase.run.action import Action, ActionError
from timebase.run.description import Description
from timebase.run.nothing import Nothing
from timebase.run.program import Program
from timebase.run.script import Script
from timebase.run.shared_object import SharedObject

KINDS = {"call": SharedObject, "command": Program, "python": Script, "none": Nothing}


def make_ready(description: Description) -> list[Action]:
    """The action of each unit. CalendarFileError with all that cannot be made ready."""
    ready = []
    for number, unit in enumerate(description.units):
        try:
            ready.append(KINDS[unit.action](unit, description.folder))
        except ActionError as problem:
            description.complain(number, problem.key, str(problem))
    description.source.finish()
    return ready
