# SPDX-License-Identifier: MIT
"""What the admission check found, by the lines of the file."""

from __future__ import annotations

from timebase.api.calendar_result import Problem, ProblemKind
from timebase.run.description import Description

# The key that a problem is most likely about; else the unit's first line.
KEYS = {
    ProblemKind.DEADLINE: ("deadline", "duration"),
    ProblemKind.TOO_SHORT: ("period", "ready"),
    ProblemKind.ON_TICK: ("ready",),
    ProblemKind.CANNOT_SLEEP: ("wait", "period"),
    ProblemKind.OVERLAP: ("ready",),
}
FIELDS = ("timeout", "deadline", "duration", "releases", "period", "ready", "name")


def line_of(about: Description, problem: Problem) -> int:
    if problem.kind == ProblemKind.BAD_CALENDAR:
        return about.source.line(("calendar",))
    keys = KEYS.get(problem.kind, ())
    if problem.kind == ProblemKind.BAD_UNIT:  # its text begins with the field, or names it
        keys = sorted((key for key in FIELDS if key in problem.text), key=problem.text.index)
    for key in keys:
        if ("unit", problem.unit, key) in about.source.places:
            return about.line(problem.unit, key)
    return about.line(problem.unit)


def problem_document(about: Description, problem: Problem) -> dict:
    """What JSON has of a problem."""
    of_calendar = problem.kind == ProblemKind.BAD_CALENDAR
    names = [unit.name for unit in about.units]
    is_pair = problem.other != problem.unit
    return {
        "kind": problem.kind.name.lower(),
        "severity": "warning" if problem.warning else "fault",
        "unit": None if of_calendar else names[problem.unit],
        "other": names[problem.other] if is_pair else None,
        "line": line_of(about, problem),
        "at_ns": problem.at_ns,
        "text": problem.text,
    }


def is_admitted(problems: list[Problem]) -> bool:
    return all(problem.warning for problem in problems)
