# SPDX-License-Identifier: MIT
"""A log as lines, and whether it is whole: each line is JSON, they count from 0, and the last one
holds how many came before it and the CRC-32 of their bytes."""

import json
import zlib


class Broken(Exception):
    """The log is not whole; the text says where."""


def lines_of(content: bytes) -> list[dict]:
    raw = content.splitlines(keepends=True)
    lines = []
    for number, line in enumerate(raw):
        try:
            lines.append(json.loads(line))
        except ValueError as problem:
            raise Broken(f"line {number} is no JSON ({problem}): {line[:80]!r}") from None
        if lines[-1]["line"] != number:
            raise Broken(f"line {number} says that it is {lines[-1]['line']}")
    if not lines or lines[-1]["kind"] != "end":
        raise Broken(f"it does not come to its end: {len(lines)} lines")
    end = lines[-1]
    if end["lines"] != len(raw) - 1:
        raise Broken(f"the end counts {end['lines']} lines, there are {len(raw) - 1}")
    if end["crc32"] != zlib.crc32(b"".join(raw[:-1])):
        raise Broken("the sum is wrong")
    return lines


def of_kind(lines: list[dict], kind: str, **wanted) -> list[dict]:
    return [
        line
        for line in lines
        if line["kind"] == kind and all(line[name] == value for name, value in wanted.items())
    ]
