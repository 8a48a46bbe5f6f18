#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmark of 2011, from the log of the guest scenario `asking`: medians, a table, and the picture
of docs/guide/resync.md.

    tests/guests/run asking && bench/asking.py [--write]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "build/guests/asking.log"
PICTURE = ROOT / "docs/guide/asking.svg"
LINE = re.compile(r"^(counter|hpet|exec): (\d+) calls in ([\d.]+) s", re.MULTILINE)
CALLS = 100_000_000  # of the benchmark in 2011
SEED = {"hpet": 140, "counter": 46}  # seconds, on its machine
NAMES = {
    "hpet": "the kernel by the HPET",
    "exec": "the same, under timebase exec",
    "counter": "the kernel by the counter",
}
WIDTH, LEFT, SCALE, ROW = 760, 230, 380, 34


def seconds(text: str) -> dict[str, float]:
    """Of so many calls as were made in 2011."""
    found: dict[str, list[float]] = {name: [] for name in NAMES}
    for name, calls, took in LINE.findall(text):
        found[name].append(float(took) * CALLS / int(calls))
    return {name: median(values) for name, values in found.items()}


def table(found: dict[str, float]) -> list[str]:
    lines = [
        "| clocksource | 10⁸ calls | HPET / this | in 2011 |",
        "|---|---:|---:|---:|",
    ]
    for name, words in NAMES.items():
        before = f"{SEED[name]} s" if name in SEED else ""
        ratio = found["hpet"] / found[name]
        lines.append(f"| {words} | {found[name]:.0f} s | {ratio:.1f} | {before} |")
    return lines


def picture(found: dict[str, float]) -> str:
    rows = [_row(number, name, found) for number, name in enumerate(NAMES)]
    height = ROW * len(NAMES) + 20
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="13" role="img" '
        'aria-label="Seconds for a hundred million calls of gettimeofday">'
    )
    ground = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, ground, *rows, "</svg>", ""])


def _row(number: int, name: str, found: dict[str, float]) -> str:
    y, length = 12 + ROW * number, SCALE * found[name] / max(found.values())
    return (
        f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end" fill="#212121">{NAMES[name]}</text>\n'
        f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="22" fill="#90caf9"/>\n'
        f'<text x="{LEFT + length + 8:.1f}" y="{y + 16}" fill="#212121">{found[name]:.0f} s</text>'
    )


def main(arguments: list[str]) -> int:
    found = seconds(LOG.read_text(errors="replace").replace("\r", ""))
    print("\n".join(table(found)))
    if arguments == ["--write"]:
        PICTURE.write_text(picture(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
