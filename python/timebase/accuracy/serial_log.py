# SPDX-License-Identifier: MIT
"""A log of the bare machine (platform/baremetal): lines of JSON from a serial port. Each has its
number, and the last one holds how many came before it and the CRC-32 of their bytes. A log is whole
or refused: what a line has lost on the way would be taken for a result."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

from timebase.api.errors import InputError

FIRST = b'{"line":0,'
KNOWN_FORMAT = 1


def read(path: Path) -> list[dict]:
    """The lines, the last one among them. What firmware and boot loader print before is left out,
    as are carriage returns, which terminal programs add."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}") from None
    begin = content.find(FIRST)
    if begin < 0:
        raise InputError(f"{path} is no log of the bare machine: no line begins it")
    raw = content[begin:].replace(b"\r", b"").splitlines(keepends=True)
    lines = [_line(path, number, one) for number, one in enumerate(raw) if one.strip()]
    _require_whole(path, raw, lines)
    return lines


def _line(path: Path, number: int, raw: bytes) -> dict:
    try:
        line = json.loads(raw)
    except ValueError:
        line = None
    if not isinstance(line, dict) or line.get("line") != number or "kind" not in line:
        raise InputError(f"{path}: line {number} of the log is damaged: record it again")
    return line


def _require_whole(path: Path, raw: list[bytes], lines: list[dict]) -> None:
    end = lines[-1]
    if end["kind"] != "end":
        raise InputError(f"{path} is not whole: {len(lines)} lines, and none that ends it")
    before = b"".join(raw[: len(lines) - 1])
    if end.get("lines") != len(lines) - 1 or end.get("crc32") != zlib.crc32(before):
        raise InputError(f"{path} is not whole: its sum is wrong")
    machine = lines[0]
    if machine["kind"] == "machine" and machine.get("format") != KNOWN_FORMAT:
        raise InputError(f"{path} is of format {machine.get('format')}, which is not known here")


def of_kind(lines: list[dict], kind: str, **wanted) -> list[dict]:
    """Those that have these values."""
    return [
        line
        for line in lines
        if line["kind"] == kind and all(line.get(name) == value for name, value in wanted.items())
    ]
