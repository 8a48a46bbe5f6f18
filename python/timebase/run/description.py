# SPDX-License-Identifier: MIT
"""What a calendar file says, read and judged key by key, before anything is looked up or run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from timebase.run import values
from timebase.run.keys import Keys, Source
from timebase.run.toml import parse, read
from timebase.text.duration import parse_duration
from timebase.text.wrong import WrongValue

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
DEFAULT_PRIORITY = 50
DEFAULT_KILL_AFTER_NS = 1_000_000_000


@dataclass(frozen=True)
class UnitDescription:
    """A [[unit]]. Times in ns; `action` is one of ACTIONS and `target` what stands there."""

    index: int
    name: str
    action: str
    target: object
    ready_ns: int
    period_ns: int
    duration_ns: int
    deadline_ns: int
    timeout_ns: int
    releases: int
    wait: str
    never_early: bool
    prepare: bool
    rehearse: bool
    save_power: bool
    on_error: str
    argument: int | str | None
    stdout: str | None
    stderr: str | None
    at_most: int
    kill_after_ns: int


@dataclass(frozen=True)
class Description:
    """A whole file. `start` is a word or UTC in ns; `cpu` None if the file does not say."""

    source: Source
    start: str | int
    length_ns: int
    cpu: int | None
    priority: int
    utilisation: float
    may_overlap: bool
    avoid_tick: bool
    realtime: bool | tuple[str, ...]
    units: tuple[UnitDescription, ...]

    @property
    def folder(self) -> Path:
        """What relative paths in the file are relative to."""
        return self.source.file.resolve().parent

    def line(self, unit: int, key: str = "") -> int:
        path = ("unit", unit, key) if key else ("unit", unit)
        return self.source.line(path)


def describe(path: Path) -> Description:
    """InputError, or CalendarFileError with every fault in it, if it cannot be used."""
    source_text = read(path)
    document = parse(path, source_text)
    source = Source(path, source_text)
    calendar, units = _tables(source, document)
    fields = _calendar(source, calendar)
    read_units = [_unit(source, number, table) for number, table in enumerate(units)]
    _refuse_twins(source, read_units)
    source.finish()
    return Description(source=source, units=tuple(read_units), **fields)


def _tables(source: Source, document: dict) -> tuple[dict, list]:
    top = Keys(source, (), document, "the calendar")
    calendar = top.take("calendar", _table, {})
    units = top.take("unit", _tables_array, [])
    if "unit" not in top:
        top.complain("", "no [[unit]]: there is nothing to do")
    top.finish()
    return calendar, units


def _table(value) -> dict:
    if not isinstance(value, dict):
        raise WrongValue("must be a table: write [calendar] on a line of its own")
    return value


def _tables_array(value) -> list:
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        raise WrongValue("must be an array of tables: write [[unit]] above each unit's keys")
    return value


def _calendar(source: Source, table: dict) -> dict:
    keys = Keys(source, ("calendar",), table, "[calendar]")
    fields = {
        "start": keys.take("start", values.start, "now"),
        "length_ns": keys.take("length", parse_duration, 0),
        "cpu": keys.take("cpu", values.whole(0, 8191), None),
        "priority": keys.take("priority", values.whole(1, 99), DEFAULT_PRIORITY),
        "utilisation": keys.take("utilisation", values.share, 1.0),
        "may_overlap": keys.take("may_overlap", values.truth, False),
        "avoid_tick": keys.take("avoid_tick", values.truth, False),
        "realtime": keys.take("realtime", values.realtime, True),
    }
    keys.finish()
    return fields


def _unit(source: Source, index: int, table: dict) -> UnitDescription:
    name = table.get("name")
    where = f'unit "{name}"' if isinstance(name, str) and name else f"unit number {index + 1}"
    keys = Keys(source, ("unit", index), table, where)
    found = UnitDescription(
        index=index,
        name=keys.take("name", values.name),
        ready_ns=keys.take("ready", parse_duration, 0),
        period_ns=keys.take("period", parse_duration, 0),
        duration_ns=keys.take("duration", parse_duration),
        deadline_ns=keys.take("deadline", parse_duration, 0),
        timeout_ns=keys.take("timeout", parse_duration, 0),
        releases=keys.take("releases", values.whole(1, 2**63 - 1), 0),
        wait=keys.take("wait", values.one_of("exact", "plain", "sleep"), "sleep"),
        never_early=keys.take("never_early", values.truth, False),
        prepare=keys.take("prepare", values.truth, True),
        rehearse=keys.take("rehearse", values.truth, False),
        save_power=keys.take("save_power", values.truth, False),
        on_error=keys.take("on_error", values.one_of("continue", "stop"), "continue"),
        argument=keys.take("argument", values.argument, None),
        stdout=keys.take("stdout", values.text, None),
        stderr=keys.take("stderr", values.text, None),
        at_most=keys.take("at_most", values.whole(1, 64), 1),
        kill_after_ns=keys.take("kill_after", parse_duration, DEFAULT_KILL_AFTER_NS),
        **_action(keys),
    )
    keys.finish()
    return found


def _action(keys: Keys) -> dict:
    targets = {
        "call": keys.take("call", values.pair("library.so:function"), None),
        "command": keys.take("command", values.words, None),
        "python": keys.take("python", values.pair("module:function"), None),
        "none": keys.take("none", values.only_true, None),
    }
    given = [action for action in ACTIONS if action in keys]
    if not given:
        keys.complain("", f"no action: give one of {', '.join(ACTIONS)}")
        return {"action": "none", "target": None}
    for more in given[1:]:
        keys.complain(more, f"there is {given[0]} already: one action for each unit")
    for key, owners in BELONGS.items():
        if key in keys and given[0] not in owners:
            keys.complain(key, f"goes with {' or '.join(owners)} only, not with {given[0]}")
    return {"action": given[0], "target": targets[given[0]]}


def _refuse_twins(source: Source, units: list[UnitDescription]) -> None:
    seen: dict[str, int] = {}
    for unit in units:
        first = seen.setdefault(unit.name, unit.index)
        if first != unit.index and isinstance(unit.name, str):
            line = source.line(("unit", first, "name"))
            what = f"line {line} has a unit of this name; each needs its own"
            source.complain(("unit", unit.index, "name"), f'unit "{unit.name}": name', what)
