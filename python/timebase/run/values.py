# SPDX-License-Identifier: MIT
"""The types of single values in a calendar. pydantic judges them; each says what it must be."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated, Literal, Union

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, ValidationError
from pydantic.functional_validators import WrapValidator

from timebase.api.realtime import RealtimeBit
from timebase.text.duration import parse_duration

START_WORDS = ("now", "next second")
REALTIME_WORDS = [bit.name.lower() for bit in RealtimeBit if bit.name != "AFFINITY"]
POINTER_MOST = 2**63 - 1
NS_PER_US = 1000


def must_be(what: str) -> WrapValidator:
    """One sentence for all that pydantic may have against a value."""

    def judge(value, judge_inside):
        try:
            return judge_inside(value)
        except ValidationError:
            raise ValueError(f"must be {what}, not {value!r}") from None

    return WrapValidator(judge)


def whole(least: int, most: int):
    what = f"a whole number from {least} to {most}"
    return Annotated[int, Field(strict=True, ge=least, le=most), must_be(what)]


def one_of(*words: str):
    choice = ", ".join(f'"{word}"' for word in words)
    return Annotated[Literal[words], must_be(f"one of {choice}")]


def pair(what: str):
    """Two parts with a colon between; the first may hold colons itself."""
    parts = AfterValidator(lambda value: tuple(value.rsplit(":", 1)))
    return Annotated[str, Field(pattern=r"^[^\x00]+:[^\x00:]+$"), parts, must_be(f'"{what}"')]


def _require(condition):
    """Refuses what does not meet the condition; must_be() has the words."""

    def judge(value):
        if not condition(value):
            raise ValueError
        return value

    return AfterValidator(judge)


def _start(value) -> str | int:
    """A word, or UTC in ns."""
    if value in START_WORDS:
        return value
    if isinstance(value, datetime) and value.tzinfo is not None:
        since = value - datetime(1970, 1, 1, tzinfo=timezone.utc)
        return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * NS_PER_US
    if isinstance(value, datetime):
        # pydantic takes a ValueError for a complaint, and a TypeError for a fault of ours.
        raise ValueError(f"{value} has no time zone: append Z for UTC")  # noqa: TRY004
    choice = " or ".join(f'"{word}"' for word in START_WORDS)
    raise ValueError(
        f"must be {choice}, or a time such as 2026-11-21T10:00:00Z without quotes, not {value!r}"
    )


Duration = Annotated[int, BeforeValidator(parse_duration)]
Start = Annotated[Union[str, int], PlainValidator(_start)]
Truth = Annotated[bool, Field(strict=True), must_be("true or false")]
OnlyTrue = Annotated[Truth, _require(bool), must_be("true: write `none = true`, or leave it away")]
Share = Annotated[
    float, Field(strict=True, gt=0, le=1), must_be("a number above 0 and at most 1, such as 0.8")
]
_Word = Annotated[str, Field(pattern=r"^[^\x00]*$")]  # C strings end at a zero
Text = Annotated[
    _Word, Field(min_length=1), must_be("a string that is not empty and holds no zero character")
]
Name = Annotated[
    str,
    Field(min_length=1, max_length=64),
    _require(str.isprintable),
    must_be("a string of at most 64 printable characters that is not empty"),
]
# Of a C function: a whole number as wide as a pointer, or a string.
Argument = Annotated[
    Union[_Word, Annotated[int, Field(strict=True, ge=-POINTER_MOST - 1, le=POINTER_MOST)]],
    must_be("a whole number of 64 bits, or a string without zero characters"),
]
Words = Annotated[
    list[_Word],
    _require(lambda words: words and words[0]),
    AfterValidator(tuple),
    must_be('an array, ["program", "argument", ...], each argument a string without zeros'),
]
Realtime = Annotated[
    Union[
        Annotated[bool, Field(strict=True)],
        Annotated[list[Literal[tuple(REALTIME_WORDS)]], AfterValidator(tuple)],
    ],
    must_be(f"true, false or an array out of {REALTIME_WORDS}"),
]
