# SPDX-License-Identifier: MIT
"""What a calendar file says, judged as a whole before anything is looked up or run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from timebase.api.realtime import DEFAULT_PRIORITY
from timebase.run.complaints import complain_of_all, where_of
from timebase.run.source import Source
from timebase.run.toml import parse, read
from timebase.run.values import (
    Argument,
    Duration,
    Name,
    OnlyTrue,
    Realtime,
    Share,
    Start,
    Text,
    Truth,
    Words,
    one_of,
    pair,
    whole,
)

ACTIONS = ("call", "command", "python", "none")
# Keys that only some actions have.
BELONGS = {
    "argument": ("call",),
    "stdout": ("command",),
    "stderr": ("command",),
    "at_most": ("command",),
    "kill_after": ("command",),
    "on_error": ("command", "python"),
    "rehearse": ("call", "none"),
}


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CalendarDescription(Table):
    """[calendar]. `start` is a word or UTC in ns; `cpu` None if the file does not say."""

    start: Start = "now"
    length_ns: Duration = Field(0, alias="length")
    cpu: Optional[whole(0, 8191)] = None
    priority: whole(1, 99) = DEFAULT_PRIORITY
    utilisation: Share = 1.0
    may_overlap: Truth = False
    avoid_tick: Truth = False
    realtime: Realtime = True


class UnitDescription(Table):
    """A [[unit]]. `action` is one of ACTIONS and `target` what stands there."""

    name: Name
    ready_ns: Duration = Field(0, alias="ready")
    period_ns: Duration = Field(0, alias="period")
    duration_ns: Duration = Field(alias="duration")
    deadline_ns: Duration = Field(0, alias="deadline")
    timeout_ns: Duration = Field(0, alias="timeout")
    releases: whole(1, 2**63 - 1) = 0
    wait: one_of("exact", "plain", "sleep") = "sleep"
    never_early: Truth = False
    prepare: Truth = True
    rehearse: Truth = False
    save_power: Truth = False
    steady: Truth = False
    on_error: one_of("continue", "stop") = "continue"
    argument: Optional[Argument] = None
    stdout: Optional[Text] = None
    stderr: Optional[Text] = None
    at_most: whole(1, 64) = 1
    kill_after_ns: Duration = Field(1_000_000_000, alias="kill_after")
    call: Optional[pair("library.so:function")] = None
    command: Optional[Words] = None
    python: Optional[pair("module:function")] = None
    none: Optional[OnlyTrue] = None

    @property
    def action(self) -> str:
        return next(action for action in ACTIONS if getattr(self, action) is not None)

    @property
    def target(self):
        return getattr(self, self.action)


class File(Table):
    calendar: CalendarDescription = CalendarDescription()
    unit: list[UnitDescription] = Field(min_length=1)


MODELS = {"": File, "calendar": CalendarDescription, "unit": UnitDescription}


@dataclass(frozen=True)
class Description:
    """A whole file."""

    source: Source
    calendar: CalendarDescription
    units: tuple[UnitDescription, ...]

    @property
    def folder(self) -> Path:
        """What relative paths in the file are relative to."""
        return self.source.file.resolve().parent

    def line(self, unit: int, key: str = "") -> int:
        path = ("unit", unit, key) if key else ("unit", unit)
        return self.source.line(path)

    def complain(self, unit: int, key: str, what: str) -> None:
        where = f'unit "{self.units[unit].name}": {key}'
        self.source.complain(("unit", unit, key), where, what)


def describe(path: Path) -> Description:
    """InputError, or CalendarFileError with every fault in it, if it cannot be used."""
    text = read(path)
    document = parse(path, text)
    source, file = Source(path, text), None
    try:
        file = File.model_validate(document)
    except ValidationError as problem:
        complain_of_all(source, document, problem, MODELS)
    _complain_of_units(source, document)
    source.finish()
    return Description(source, file.calendar, tuple(file.unit))


def _complain_of_units(source: Source, document: dict) -> None:
    """What several keys or units break together. Looked for even if some value is wrong, so that
    all faults are told at once."""
    units, lines = document.get("unit"), {}
    for number, table in enumerate(units if isinstance(units, list) else ()):
        if not isinstance(table, dict):
            continue
        place = ("unit", number)
        where, name = where_of(document, place), table.get("name")
        for key, what in _broken_rules(table):
            source.complain((*place, key), f"{where}: {key}" if key else where, what)
        if isinstance(name, str) and name in lines:
            what = f"line {lines[name]} has a unit of this name; each needs its own"
            source.complain((*place, "name"), f"{where}: name", what)
        elif isinstance(name, str):
            lines[name] = source.line((*place, "name"))


def _broken_rules(table: dict) -> Iterator[tuple[str, str]]:
    """Of one unit: (key, what is wrong)."""
    given = [action for action in ACTIONS if action in table]
    if not given:
        yield "", f"no action: give one of {', '.join(ACTIONS)}"
        return
    for more in given[1:]:
        yield more, f"there is {given[0]} already: one action for each unit"
    for key, owners in BELONGS.items():
        if key in table and given[0] not in owners:
            yield key, f"goes with {' or '.join(owners)} only, not with {given[0]}"
