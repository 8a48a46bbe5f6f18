#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Readings under a live writer in C, in each language: `make languages-torture`.

Reads build/languages/torture-*.log, which scripts/languages torture writes, and writes
bench/results/torture.md, with torture.json beside it. Readings that found no line, because a
publication fell into them, do not count; bindings/conformance/law.h says what a torn one is.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

import record

from timebase.api.counter import probe
from timebase.api.machine import describe

LOGS = record.ROOT / "build/languages"
LINE = re.compile(
    r"^torture: ([^:]+): (\d+) readings, (\d+) without a line, (\d+) torn, (\d+) backwards$",
    re.MULTILINE,
)
KEYS = ("reader", "readings", "without_a_line", "torn", "backwards")
LANGUAGES = ("cpp", "rust", "go", "lisp")
# Of readings that are compiled: interpreters, and the same code emulated, do fewer.
WANTED = 200_000_000
WHOLE = ("C++, native", "Rust, native", "Go, native", "Common Lisp, SBCL", "Common Lisp, ECL")


def read(folder: Path) -> list[dict]:
    """What all logs say; a language without a log, or whose log has none of it, ends this."""
    rows = []
    for language in LANGUAGES:
        path = folder / f"torture-{language}.log"
        found = LINE.findall(path.read_text(encoding="utf-8")) if path.exists() else []
        if not found:
            sys.exit(f"{path}: no readings: run scripts/languages torture {language} first")
        rows += [dict(zip(KEYS, [name, *map(int, counts)])) for name, *counts in found]
    return rows


def verdict(row: dict) -> str:
    if row["reader"] not in WHOLE:
        return ""
    is_met = row["readings"] >= WANTED and row["torn"] == row["backwards"] == 0
    return "met" if is_met else "missed"


def table(rows: list[dict]) -> list[str]:
    """The goal is of the readers in WHOLE; one of them that is not there is said."""
    lines = ["| reader | readings | without a line | torn | backwards | 0 wrong in 2 × 10⁸ |"]
    lines += ["|---|---:|---:|---:|---:|---|"]
    lines += [
        f"| {row['reader']} | {row['readings']:,} | {row['without_a_line']:,} | {row['torn']} "
        f"| {row['backwards']} | {verdict(row)} |"
        for row in rows
    ]
    there = {row["reader"] for row in rows}
    lines += [f"| {name} | not tried | | | | missed |" for name in WHOLE if name not in there]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    record.add_options(parser, parts=())
    options = parser.parse_args()
    rows = read(LOGS)
    machine = describe(probe())
    text = [record.heading(machine, os.getloadavg()[0]), "", *table(rows)]
    record.write(record.folder(options), "torture", text, {"machine": machine, "rows": rows})
    print("\n".join(text))


if __name__ == "__main__":
    main()
