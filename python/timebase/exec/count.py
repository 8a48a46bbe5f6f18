# SPDX-License-Identifier: MIT
"""What a program has asked the clocks for: the table that its preload library fills.

The layout is that of src/preload/counts.h. The table is a file that the program, and all that it starts,
have in their memory; so it is whole however they end.
"""

from __future__ import annotations

import os
import signal
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from timebase.exec.launch import refusal_of
from timebase.exec.program import Program

VARIABLE = "TIMEBASE_PRELOAD_COUNT"
MAGIC = 0x31746E756F636274
HEAD = struct.Struct("=6Q")  # magic, images, missed, and three reserved
SLOT = struct.Struct("=QQqQQQ")  # key, program and function, clock, caller, calls, ticks
SLOTS = 8192
CTRL = (signal.SIGINT, signal.SIGQUIT)
FUNCTIONS = (
    "",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "timespec_get",
    "time",
    "ftime",
)
CLOCKS = {
    0: "REALTIME",
    1: "MONOTONIC",
    2: "PROCESS_CPUTIME_ID",
    3: "THREAD_CPUTIME_ID",
    4: "MONOTONIC_RAW",
    5: "REALTIME_COARSE",
    6: "MONOTONIC_COARSE",
    7: "BOOTTIME",
    8: "REALTIME_ALARM",
    9: "BOOTTIME_ALARM",
    11: "TAI",
}


@dataclass(frozen=True)
class Row:
    program: int  # 1: the first that was started, and its forked children
    function: str
    clock: str
    caller: str
    calls: int
    ticks: int


@dataclass(frozen=True)
class Piece:
    begin: int
    end: int
    offset: int
    name: str


def make(path: Path) -> None:
    with path.open("wb") as file:
        file.write(HEAD.pack(MAGIC, 0, 0, 0, 0, 0))
        file.truncate(HEAD.size + SLOT.size * SLOTS)


def run(program: Program, words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Negative: the signal that ended it. Ctrl-C is for the program, which has it as we had."""
    kept = {number: signal.signal(number, signal.SIG_IGN) for number in CTRL}
    heeded = [number for number, handler in kept.items() if handler != signal.SIG_IGN]
    try:
        child = os.posix_spawn(program.path, list(words), dict(environment), setsigdef=heeded)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except OSError as problem:
        raise refusal_of(program, problem) from None
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def end_as(code: int) -> None:
    """Ends this process by the signal that ended the program; returns if there was none."""
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)


def read(path: Path) -> tuple[list[Row], int]:
    """Most calls first; and how many found no place in the table."""
    content = path.read_bytes()
    _, _, missed, *_ = HEAD.unpack_from(content)
    maps: dict[int, list[Piece]] = {}
    rows = []
    for key, image_function, clock, caller, calls, ticks in SLOT.iter_unpack(content[HEAD.size :]):
        image, function = image_function >> 8, image_function & 0xFF
        if key == 0 or calls == 0 or not 0 < function < len(FUNCTIONS):
            continue
        known = maps.setdefault(image, _maps(Path(f"{path}.{image}")))
        rows.append(
            Row(image, FUNCTIONS[function], _clock(clock), _place(known, caller), calls, ticks)
        )
    return sorted(rows, key=_rank), missed


def by_caller(rows: list[Row]) -> list[Row]:
    """Of all programs together, most calls first."""
    merged: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        kind = (row.function, row.clock, row.caller)
        one = merged.get(kind, replace(row, program=0, calls=0, ticks=0))
        merged[kind] = replace(one, calls=one.calls + row.calls, ticks=one.ticks + row.ticks)
    return sorted(merged.values(), key=_rank)


def _rank(row: Row) -> tuple:
    return -row.calls, row.function, row.clock, row.caller, row.program


def _clock(number: int) -> str:
    return CLOCKS.get(number, str(number))


def _maps(path: Path) -> list[Piece]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        words = line.split(maxsplit=5)
        begin, _, end = words[0].partition("-")
        name = words[5] if len(words) > 5 else ""
        found.append(Piece(int(begin, 16), int(end, 16), int(words[2], 16), name))
    return found


def _place(maps: list[Piece], address: int) -> str:
    """The file, and where in it: what addr2line and objdump take."""
    for one in maps:
        if one.begin <= address < one.end and one.name:
            return f"{Path(one.name).name}+{address - one.begin + one.offset:#x}"
    return f"{address:#x}"
