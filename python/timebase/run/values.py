# SPDX-License-Identifier: MIT
"""How single values of a calendar are read. Each takes what TOML gave and returns what is meant;
WrongValue says what is wrong and what to write."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone

from timebase.text.wrong import WrongValue

START_WORDS = ("now", "next second")
NAME_MOST = 64
POINTER_MOST = 2**63 - 1
NS_PER_US = 1000


def truth(value) -> bool:
    if not isinstance(value, bool):
        raise WrongValue(f"must be true or false, not {value!r}")
    return value


def only_true(value) -> bool:
    if value is not True:
        raise WrongValue(f"write `none = true`, or leave it away, not {value!r}")
    return value


def whole(least: int, most: int) -> Callable[[object], int]:
    def read(value) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise WrongValue(f"must be a whole number from {least} to {most}, not {value!r}")
        return value

    return read


def share(value) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 < value <= 1:
        raise WrongValue(f"must be a number above 0 and at most 1, such as 0.8, not {value!r}")
    return float(value)


def one_of(*words: str) -> Callable[[object], str]:
    def read(value) -> str:
        if value not in words:
            choice = ", ".join(f'"{word}"' for word in words)
            raise WrongValue(f"must be one of {choice}, not {value!r}")
        return value

    return read


def text(value) -> str:
    if not isinstance(value, str) or not value:
        raise WrongValue(f"must be a string that is not empty, not {value!r}")
    if "\0" in value:
        raise WrongValue("must not hold a zero character: C strings end there")
    return value


def name(value) -> str:
    found = text(value)
    if len(found) > NAME_MOST or not found.isprintable():
        raise WrongValue(f"must be at most {NAME_MOST} printable characters, not {value!r}")
    return found


def argument(value) -> int | str:
    """Of a C function: a whole number as wide as a pointer, or a string."""
    if isinstance(value, str) and "\0" not in value:
        return value
    return whole(-POINTER_MOST - 1, POINTER_MOST)(value)


def words(value) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise WrongValue(f'must be an array, ["program", "argument", ...], not {value!r}')
    program, *arguments = value
    text(program)
    for word in arguments:
        if not isinstance(word, str) or "\0" in word:
            raise WrongValue(f"each argument must be a string without zeros, not {word!r}")
    return tuple(value)


def pair(what: str) -> Callable[[object], tuple[str, str]]:
    """Two parts with a colon between; the first may hold colons itself."""

    def read(value) -> tuple[str, str]:
        left, _colon, right = text(value).rpartition(":")
        if not left or not right:
            raise WrongValue(f'must be "{what}", not {value!r}')
        return left, right

    return read


def start(value) -> str | int:
    """A word, or UTC in ns."""
    if value in START_WORDS:
        return value
    if isinstance(value, datetime) and value.tzinfo is not None:
        since = value - datetime(1970, 1, 1, tzinfo=timezone.utc)
        return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * NS_PER_US
    if isinstance(value, datetime):
        raise WrongValue(f"{value} has no time zone: append Z for UTC")
    choice = " or ".join(f'"{word}"' for word in START_WORDS)
    raise WrongValue(
        f"must be {choice}, or a time such as 2026-11-21T10:00:00Z without quotes, not {value!r}"
    )


def realtime(value) -> bool | tuple[str, ...]:
    """True for all there is to ask for, false for nothing, or names."""
    from timebase.api.realtime import RealtimeBit

    known = [bit.name.lower() for bit in RealtimeBit if bit.name != "AFFINITY"]
    if isinstance(value, bool):
        return value
    if not isinstance(value, list) or any(word not in known for word in value):
        raise WrongValue(f"must be true, false or an array out of {known}, not {value!r}")
    return tuple(value)
