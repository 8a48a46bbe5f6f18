#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One table of all languages' readings: `make languages`, on a quiet machine.

Reads build/languages/*.jsonl, which scripts/languages bench writes, and writes
bench/results/languages.md, with languages.json beside it for the report. The ratio to C is that of
medians of the same process, whose rows took turns. The goals are below.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import record

from timebase.api.counter import probe
from timebase.api.machine import describe

LINES = record.ROOT / "build/languages"
KEYS = {"language", "reading", "who", "median_ns", "p99_ns", "trials"}
READINGS = ["utc_ns", "utc_bounded", "mono_ns", "ticks", "own_clock", "peer"]
LANGUAGES = ["C++", "Rust", "Go", "Common Lisp (SBCL)", "Common Lisp (ECL)", "Python"]
# Language, what of it, compared to, at most.
GOALS = [
    ("C++", "timebase", "C inline", 1.05),
    ("Rust", "timebase", "C inline", 1.05),
    ("Go", "timebase", "C inline", 1.3),
    ("Go", "timebase", "time.Now", 0.5),
    ("Common Lisp (SBCL)", "timebase", "C inline", 1.25),
    ("Common Lisp (ECL)", "timebase", "C inline", 2),
]


def read(folder: Path) -> list[dict]:
    """All lines, in the order of languages and readings; a line that is none ends this."""
    rows = []
    for path in sorted(folder.glob("*.jsonl")):
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            row = json.loads(text)
            if not row.keys() >= KEYS or row["reading"] not in READINGS:
                sys.exit(f"{path}:{number}: not a line of a bench: {text}")
            rows.append(row)
    return sorted(rows, key=place)


def place(row: dict) -> tuple:
    language = row["language"]
    known = LANGUAGES.index(language) if language in LANGUAGES else len(LANGUAGES)
    is_other = row["who"] != "C inline"
    return known, language, READINGS.index(row["reading"]), is_other, row["median_ns"]


def in_c(rows: list[dict]) -> dict[tuple[str, str], float]:
    """C's median by language and reading, of the same process; a language that links no C has none,
    and no ratio."""
    found = {}
    for row in rows:
        if row["who"] == "C inline":
            found[row["language"], row["reading"]] = row["median_ns"]
    return found


def ratio(row: dict, c: dict) -> str:
    base = c.get((row["language"], row["reading"]))
    return f"{row['median_ns'] / base:.2f}" if base else ""


def table(rows: list[dict]) -> list[str]:
    c = in_c(rows)
    lines = ["| language | reading | who | median ns | p99 ns | / C inline | trials |"]
    lines += ["|---|---|---|---:|---:|---:|---:|"]
    lines += [
        f"| {row['language']} | {row['reading']} | {row['who']} | {row['median_ns']:.2f} "
        f"| {row['p99_ns']:.2f} | {ratio(row, c)} | {row['trials']} |"
        for row in rows
    ]
    return lines


def goal(rows: list[dict], language: str, who: str, other: str, most: float) -> str:
    """One line; what was not measured is said, not left out."""
    of = [row for row in rows if row["language"] == language]
    ours = [row for row in of if row["reading"] == "utc_ns" and row["who"] == who]
    theirs = [
        row for row in of if row["reading"] in ("utc_ns", "own_clock") and row["who"] == other
    ]
    name = f"| {language} `{who}` utc_ns / {other} | ≤ {most} |"
    if not ours or not theirs:
        return f"{name} not measured | |"
    value = ours[0]["median_ns"] / theirs[0]["median_ns"]
    return f"{name} {value:.2f} | {'met' if value <= most else 'missed'} |"


def goals(rows: list[dict]) -> list[str]:
    return ["| goal | must | is | |", "|---|---|---:|---|", *(goal(rows, *one) for one in GOALS)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    record.add_options(parser, parts=())
    options = parser.parse_args()
    rows = read(LINES)
    if not rows:
        sys.exit(f"bench/languages.py: nothing in {LINES}: run scripts/languages bench first")
    machine = describe(probe())
    text = [record.heading(machine, os.getloadavg()[0]), "", *goals(rows), "", *table(rows)]
    record.write(record.folder(options), "languages", text, {"machine": machine, "rows": rows})
    print("\n".join(text))


if __name__ == "__main__":
    main()
