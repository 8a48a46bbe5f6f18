# SPDX-License-Identifier: MIT
"""A calendar's text, and what is wrong with it. All faults are collected with their lines, and then
told at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path as FilePath

from timebase.api.errors import InputError
from timebase.run.places import Path, find_places, line_of


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
