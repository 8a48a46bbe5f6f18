# SPDX-License-Identifier: MIT
"""On which line of a TOML text each key and table stands; Python's parser does not tell.

find_places(text)[("unit", 2, "period")] is the line of `period` in the third [[unit]]. The text
must be valid TOML. The caller has parsed it before, so little is checked here.
"""

from __future__ import annotations

import re
from typing import Union

from timebase.run.toml import loads

Path = tuple[Union[str, int], ...]

BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
SPACE = re.compile(r"[ \t]*")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# The last quotes of a long string may belong to it: as many as there are.
STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.DOTALL,
)
SCALAR = re.compile(r"[^,\]}#\n]*")  # a date may have a space in it


def find_places(text: str) -> dict[Path, int]:
    scanner = _Scanner(text)
    try:
        scanner.scan()
    except RecursionError:  # nested beyond reason: the lines up to there will have to do
        pass
    return scanner.lines


def line_of(places: dict[Path, int], path: Path) -> int:
    """The line of the path. If the path is not in the text, the line of the table that it belongs
    to."""
    while path and path not in places:
        path = path[:-1]
    return places.get(path, 1)


class _Scanner:
    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}  # of arrays of tables
        self._counted = (0, 1)  # up to this place, this line

    def scan(self) -> None:
        table: Path = ()
        self.skip(BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.skip(BLANK)

    def skip(self, pattern: re.Pattern) -> str:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at + 1
        return found.group() if found else ""

    def mark(self, path: Path, at: int) -> None:
        counted, line = self._counted
        line += self.text.count("\n", counted, at)
        self._counted = (at, line)
        self.lines.setdefault(path, line)

    def header(self) -> Path:
        start, brackets = self.at, 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        *parents, last = self.keys()
        self.at += brackets
        path = self.last_of((*self.within((), parents), last))
        if brackets == 2:
            path = (*self.within((), parents), last)
            number = self.counts.get(path, 0)
            self.counts[path] = number + 1
            self.mark(path, start)
            path = (*path, number)
        self.mark(path, start)
        return path

    def last_of(self, path: Path) -> Path:
        """An array of tables stands for its last table."""
        return (*path, self.counts[path] - 1) if path in self.counts else path

    def within(self, table: Path, keys: list[str]) -> Path:
        for key in keys:
            table = self.last_of((*table, key))
        return table

    def keys(self) -> list[str]:
        """A dotted key, and the blanks around it."""
        found = []
        while True:
            self.skip(SPACE)
            found.append(self.key())
            self.skip(SPACE)
            if self.text[self.at : self.at + 1] != ".":
                return found
            self.at += 1

    def key(self) -> str:
        if self.text[self.at] in "\"'":
            return loads(f"key = {self.skip(STRING)}")["key"]
        return self.skip(BARE_KEY)

    def pair(self, table: Path) -> None:
        start = self.at
        for key in self.keys():
            table = (*table, key)
            self.mark(table, start)
        self.at += 1  # the equals sign
        self.skip(SPACE)
        self.value(table)

    def value(self, path: Path) -> None:
        first = self.text[self.at : self.at + 1]
        if first == "[":
            self.items("]", lambda number: self.item((*path, number)))
        elif first == "{":
            self.items("}", lambda _number: self.pair(path))
        elif first in ('"', "'"):
            self.skip(STRING)
        else:
            self.skip(SCALAR)

    def item(self, path: Path) -> None:
        self.mark(path, self.at)
        self.value(path)

    def items(self, end: str, one) -> None:
        self.at += 1
        number = 0
        self.skip(BLANK)
        while self.at < len(self.text) and self.text[self.at] != end:
            one(number)
            number += 1
            self.skip(BLANK)
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
                self.skip(BLANK)
        self.at += 1
