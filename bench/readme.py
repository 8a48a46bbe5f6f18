#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The figures in README, taken from the tables in bench/results: no number is there by hand.

bench/readme.py           write them into README.md
bench/readme.py --check   exit 1 if they are others
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

import record

README = record.ROOT / "README.md"
BEGIN, END = "<!-- figures: bench/readme.py -->\n", "<!-- end of figures -->\n"


@dataclass(frozen=True)
class Figure:
    said: str  # in README
    table: str  # of bench/results
    row: str  # its first cell
    column: str = "reached"
    command: str = "make goals"


ERRORS = "\\|error\\|: p50 / p90 / p95 / p99"
FIGURES = (
    Figure(
        "an unordered reading of UTC / a bare read of the counter",
        "goals",
        "utc_ns_unordered / bare counter",
    ),
    Figure(
        "an ordered one / `clock_gettime(CLOCK_REALTIME)`",
        "goals",
        "utc_ns / clock_gettime(REALTIME)",
    ),
    Figure("distance from `CLOCK_REALTIME`, median", "goals", "error against CLOCK_REALTIME, p50"),
    Figure("the same, 99.9th percentile", "goals", "the same, p99.9"),
    Figure(
        "monotonic readings below an earlier one, two threads",
        "goals",
        "backward steps of mono, 2 threads",
    ),
    Figure(
        "begin at a tick, up to 2 µs ahead: error in ns, p50 / p90 / p95 / p99",
        "accuracy",
        "`exact`",
        ERRORS,
        "make accuracy",
    ),
    Figure(
        "the same by a polling loop, in the same run", "accuracy", "`loop`", ERRORS, "make accuracy"
    ),
)


class NoSuchRowError(Exception):
    """A table has no such row or column."""


def heading_and_rows(name: str) -> tuple[str, list[dict]]:
    """The first line, and the rows of all tables, by the titles above each."""
    lines = (record.RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines()
    titles, rows = None, []
    for line in lines:
        if not line.startswith("|"):
            titles = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if titles is None:
            titles = cells
        else:
            rows.append(dict(zip(titles, cells)))
    return lines[0], rows


def value(figure: Figure) -> str:
    _heading, rows = heading_and_rows(figure.table)
    for row in rows:
        if next(iter(row.values())) == figure.row and figure.column in row:
            return row[figure.column]
    raise NoSuchRowError(
        f"bench/results/{figure.table}.md has no {figure.row!r}, {figure.column!r}"
    )


def block() -> str:
    lines = ["| figure | reached | command |", "|---|---:|---|"]
    lines += [f"| {one.said} | {value(one)} | `{one.command}` |" for one in FIGURES]
    tables = dict.fromkeys(one.table for one in FIGURES)
    lines += ["", *(f"`{name}`: {heading_and_rows(name)[0]}" for name in tables)]
    return "\n".join(lines) + "\n"


def with_block(text: str) -> str:
    return record.between(text, BEGIN, END, f"\n{block()}\n")


def main(arguments: list[str]) -> int:
    before = README.read_text(encoding="utf-8")
    after = with_block(before)
    if "--check" in arguments:
        if after != before:
            print("README.md: its figures are not those of bench/results; run bench/readme.py")
        return int(after != before)
    README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
