# SPDX-License-Identifier: MIT
"""Python's TOML parser, by either of its names, and a file read with it."""

from __future__ import annotations

import re
from pathlib import Path

from timebase.api.errors import InputError

try:
    from tomllib import TOMLDecodeError, loads
except ModuleNotFoundError:  # before Python 3.11
    from tomli import TOMLDecodeError, loads

__all__ = ["loads", "parse", "read"]

MOST_BYTES = 1 << 20
PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")
END = re.compile(r" \(at end of document\)$")


def read(path: Path) -> str:
    """The text of a file, with every line ended by a bare newline, as TOML counts them."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"{path}: more than {MOST_BYTES >> 20} MiB: is this a calendar?")
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        column = problem.start - content.rfind(b"\n", 0, problem.start)
        raise InputError(f"{path}:{line}:{column}: not UTF-8; save the file as UTF-8") from None


def parse(path: Path, text: str) -> dict:
    """The document. InputError with file:line:column if it is not TOML."""
    try:
        return loads(text)
    except TOMLDecodeError as problem:
        raise InputError(f"{path}:{_with_place(str(problem), text)}") from None
    except RecursionError:
        raise InputError(f"{path}:1:1: not TOML that can be read: nested too deeply") from None


def _with_place(message: str, text: str) -> str:
    found = PLACE.search(message)
    if found:
        return f"{found[1]}:{found[2]}: not TOML: {message[: found.start()]}"
    line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    return f"{line}:{column}: not TOML: {END.sub(', and here is the end', message)}"
