# SPDX-License-Identifier: MIT
"""Where in a line of text the tick is. A format is a function that makes a finder.

A finder takes a line and gives the tick, or None for a line that need not have one (a heading),
or raises NoTickError that says what is wrong with it.
"""

from __future__ import annotations

import csv
import re
from typing import Callable, Optional

from timebase.api.errors import InputError

Finder = Callable[[str], Optional[int]]
TICKS_MAX = 2**64 - 1


class NoTickError(Exception):
    """The line has no tick at the place where its format has one."""


def tick_of(text: str) -> int:
    """A decimal number, or a hexadecimal one with 0x."""
    word = text.strip()
    is_number = re.fullmatch(r"\d+|0[xX][0-9a-fA-F]+", word, re.ASCII)
    if not is_number:
        raise NoTickError(f"{_short(word)} is no tick: give a whole number, or 0x and hexadecimal")
    ticks = int(word, 16 if word[:2] in ("0x", "0X") else 10) if len(word) <= 20 else 2**64
    if ticks > TICKS_MAX:
        raise NoTickError(f"{_short(word)} is no tick: it has more than 64 bits")
    return ticks


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _number_of(column: str | None) -> int:
    """Columns count from 1, as in cut and awk."""
    if column is None:
        return 1
    if not column.isascii() or not column.isdigit() or int(column) < 1:
        raise InputError(f"--column {column}: give a number from 1, or a name with --format csv")
    return int(column)


def plain(column: str | None, separator: str | None) -> Finder:
    """A column of each line, by blanks or a separator. Empty lines and # comments have none."""
    number = _number_of(column)

    def find(line: str):
        if not line.strip() or line.lstrip().startswith("#"):
            return None
        words = line.split(separator)
        if len(words) < number:
            raise NoTickError(f"{_short(line.strip())} has {len(words)} columns, not {number}")
        return tick_of(words[number - 1])

    return find


def comma_separated(column: str | None, separator: str | None) -> Finder:
    """A column by its number or by its name in the first line, which may be a heading."""
    by_name = column is not None and not column.isdigit()
    state = {"first": True, "index": None if by_name else _number_of(column) - 1}

    def read_first(words: list[str]):
        state["first"] = False
        if by_name:
            names = [word.strip() for word in words]
            if column not in names:
                raise InputError(f"--column {column}: the first line has {', '.join(names)}")
            state["index"] = names.index(column)
            return True
        index = state["index"]
        return index < len(words) and not words[index].strip()[:1].isdigit()

    def find(line: str):
        if not line.strip():
            return None
        try:
            words = next(csv.reader([line], delimiter=separator or ","))
        except (csv.Error, ValueError) as problem:
            raise NoTickError(f"{_short(line.strip())} is no csv: {problem}") from None
        if state["first"] and read_first(words):
            return None
        if len(words) <= state["index"]:
            raise NoTickError(f"{_short(line.strip())} has {len(words)} columns, not more")
        return tick_of(words[state["index"]])

    return find


# comm-pid [cpu] (flags) ticks: event: ...
_EVENT = re.compile(r"^.*?-\d+\s+\[\d+\](?:\s+[^\s:]{3,6})?\s+(?P<time>[0-9.]+):\s")
_HEADING = re.compile(r"^(cpus=|version\s*=|CPU\s?:?\s?\d+|\[|#|\s*$)")


def trace_cmd(column: str | None, separator: str | None) -> Finder:
    """What `trace-cmd report` prints of a trace recorded with `-C x86-tsc`."""
    del column, separator

    def find(line: str):
        event = _EVENT.match(line)
        if event is None:
            if _HEADING.match(line):
                return None
            raise NoTickError(f"{_short(line.strip())} is no event of trace-cmd report")
        if "." in event["time"]:
            raise NoTickError(
                f"{event['time']} is a time, not a tick: record with trace-cmd record -C x86-tsc"
            )
        return tick_of(event["time"])

    return find


_TSC = re.compile(r"\btsc\s*[=: ]\s*(?P<ticks>0x[0-9a-f]+|\d+)\b", re.IGNORECASE)


def perf(column: str | None, separator: str | None) -> Finder:
    """Lines that say `tsc=...`, `tsc: ...` or `TSC 0x...`, as perf script does of Intel PT with
    --dump-raw-trace; the others have no tick."""
    del column, separator

    def find(line: str):
        found = _TSC.search(line)
        return tick_of(found["ticks"]) if found else None

    return find


FORMATS = {"plain": plain, "csv": comma_separated, "trace-cmd": trace_cmd, "perf": perf}
