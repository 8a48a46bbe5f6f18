# SPDX-License-Identifier: MIT
"""Durations as people write them: "250us", "1.5 ms". One rule: a number and a unit, exact to the
nanosecond. Only 0 may stand without a unit."""

from __future__ import annotations

import re
from fractions import Fraction

UNITS_NS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # MICRO SIGN, as on keyboards
    "μs": 1_000,  # GREEK SMALL LETTER MU, which looks the same
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
}
MOST_NS = 2**60  # the calendar's life, 36 years
PATTERN = re.compile(r"\s*([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*([a-zµμ]*)\s*")
EXAMPLE = '"250us", "1.5 ms" or "2 s"'
CHOICE = "ns, us, ms, s, min, h"


def parse_duration(value) -> int:
    """Nanoseconds. ValueError says what is wrong with it."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == 0:
        return 0
    if not isinstance(value, str):
        what = f"must be a string with a unit, such as {EXAMPLE}, not {value!r}"
        raise ValueError(what)  # noqa: TRY004 (one kind of refusal for all that is no duration)
    found = PATTERN.fullmatch(value)
    if not found:
        raise ValueError(f"{value!r} is no duration: write a number and a unit, such as {EXAMPLE}")
    number, unit = found.groups()
    if unit not in UNITS_NS and not (unit == "" and Fraction(number) == 0):
        what = f"has the unknown unit {unit!r}" if unit else "has no unit"
        raise ValueError(f"{value!r} {what}: take one of {CHOICE}")
    return _whole_ns(value, Fraction(number) * UNITS_NS.get(unit, 1))


def _whole_ns(value: str, ns: Fraction) -> int:
    if ns > MOST_NS:
        raise ValueError(f"{value!r} is too long: at most 2^60 ns, 36 years")
    if ns.denominator != 1:
        raise ValueError(f"{value!r} is not a whole number of ns")
    return int(ns)


def show_duration(ns: float) -> str:
    """The other way, for people: 1500 is "1.5 µs". Three digits, so not exact. Whole nanoseconds
    (an int) are shown whole: nobody has measured a tenth of them."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(ns) >= 0.9995 * size:
            return f"{ns / size:,.{_places(ns / size)}f} {unit}"
    return f"{ns} ns" if isinstance(ns, int) else f"{ns:.{_places(ns)}f} ns"


def show_error(probably_ns: int, certainly_ns: int) -> str:
    """Both errors of a clock in one phrase: "5.0 ns, certainly within 30.0 µs"."""
    return f"{show_duration(probably_ns)}, certainly within {show_duration(certainly_ns)}"


def _places(value: float) -> int:
    return 0 if abs(value) >= 99.95 else 1
