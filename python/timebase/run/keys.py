# SPDX-License-Identifier: MIT
"""Keys of a table, each read once, and what is wrong with any of them: all faults of a file are
collected, with their lines, before anybody complains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import Any

from timebase.api.errors import InputError
from timebase.run.places import Path, find_places, line_of
from timebase.text.wrong import WrongValue

REQUIRED = object()


class CalendarFileError(InputError):
    """What is wrong with a calendar, a line each: "file:line: where: key: what"."""

    def __init__(self, complaints: list[str]):
        self.complaints = complaints
        super().__init__("\n".join(complaints))


@dataclass
class Source:
    """A calendar's text, where its keys are, and the faults found so far."""

    file: FilePath
    text: str
    faults: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self):
        self.places = find_places(self.text)

    def line(self, path: Path) -> int:
        return line_of(self.places, path)

    def complain(self, path: Path, where: str, what: str) -> None:
        line = self.line(path)
        self.faults.append((line, f"{self.file}:{line}: {where}: {what}"))

    def finish(self) -> None:
        """CalendarFileError if there were faults, in the order of their lines."""
        if self.faults:
            raise CalendarFileError([text for _line, text in sorted(self.faults)])


class Keys:
    """The keys of one table. `where` is what people call it: [calendar], unit "send"."""

    def __init__(self, source: Source, path: Path, table: dict, where: str):
        self.source, self.path, self.table, self.where = source, path, table, where
        self.known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self.table

    def line(self, key: str) -> int:
        return self.source.line((*self.path, key))

    def complain(self, key: str, what: str) -> None:
        place = (*self.path, key)
        self.source.complain(place, f"{self.where}: {key}" if key else self.where, what)

    def take(self, key: str, read: Callable[[Any], Any], default: Any = REQUIRED) -> Any:
        """The key's value as `read` makes it; what its WrongValue says is a fault."""
        self.known.append(key)
        if key not in self.table:
            if default is REQUIRED:
                self.complain("", f"{key} is missing: it must be given")
            return default
        try:
            return read(self.table[key])
        except WrongValue as problem:
            self.complain(key, str(problem))
            return default

    def finish(self) -> None:
        """Every key that nobody took is a fault."""
        for key in self.table:
            if key not in self.known:
                near = get_close_matches(key, self.known, 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                choice = "" if near else f"; there are {', '.join(self.known)}"
                self.complain(key, f"there is no such key{hint}{choice}")
