# SPDX-License-Identifier: MIT
"""The table of bench/trust.py, of which a part can be taken alone. Its rows say when they were taken.

The table itself is the record: a part that is taken again takes the place of its rows in
bench/results/trust.md, and all other rows stay as they stand there, with the heading of their run.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import record

HEAD = ["| part | figure | reached | must | | taken |", "|---|---|---:|---:|---|---|"]
OTHERS = "Rows that name another date or commit were taken then, and there:"
HEADING = re.compile(
    r"^(?:- )?(?P<text>(?P<place>.+), load \S+ at the start, (?P<run>\S+, commit \S+)\.)$"
)
TRIAL = "(trial: not for the record)"
NAME = "trust"


def rows(part: str, taken: dict) -> list[str]:
    """Of one part as trust.take() gives it."""
    when = f"{taken['run']}, load {taken['load_average']:.2f}"
    if taken["missing"]:
        return [_line(part, f"missing: {taken['missing']}", "", "", "", when)]
    trial = f" {TRIAL}" if taken["trial"] else ""
    return [
        _line(part, one["name"] + trial, one["reached"], one["must"], _met(taken, one), when)
        for one in taken["rows"]
    ]


def _line(*cells: str) -> str:
    safe = (" ".join(cell.replace("|", "/").split()) for cell in cells)
    return "| " + " | ".join(safe) + " |"


def _met(taken: dict, one: dict) -> str:
    if taken["trial"] or one["met"] is None:
        return ""
    return "yes" if one["met"] else "**no**"


class Table:
    """Headings, newest first, and the rows of each part."""

    def __init__(self, text: str = ""):
        lines = text.splitlines()
        self.headings = [found for line in lines if (found := HEADING.match(line))]
        self.parts: dict[str, list[str]] = {}
        for line in lines:
            if line.startswith("| ") and line != HEAD[0]:
                self.parts.setdefault(line.split(" | ")[0][2:], []).append(line)

    def has_figure(self, part: str) -> bool:
        """One that was taken in full."""
        kept = self.parts.get(part, [])
        return any(TRIAL not in line and "| missing: " not in line for line in kept)

    def put(self, part: str, taken: dict, heading: str) -> str | None:
        """The part's new rows; or why the recorded ones stay: nothing less takes their place."""
        if self.has_figure(part) and (taken["trial"] or taken["missing"]):
            why = "this was a trial" if taken["trial"] else f"missing: {taken['missing']}"
            return f"{part}: {why}; the recorded figure stays"
        self.parts[part] = rows(part, taken)
        new = HEADING.match(heading)
        others = [one for one in self.headings if not _same_run(one, new)]
        self.headings = [new, *others]
        return None

    def lines(self, parts) -> list[str]:
        """Of these parts, in this order; a heading that no row needs is left out."""
        body = [line for part in parts for line in self.parts.get(part) or [_not_taken(part)]]
        needed = [one for one in self.headings if any(_is_of(one, line) for line in body)]
        first, others = needed[:1], needed[1:]
        told = [OTHERS, "", *(f"- {one['text']}" for one in others), ""] if others else []
        return [*(one["text"] for one in first), "", *told, *HEAD, *body]


def _not_taken(part: str) -> str:
    return _line(part, "missing: not taken", "", "", "", "")


def _same_run(one: re.Match, other: re.Match) -> bool:
    return (one["place"], one["run"]) == (other["place"], other["run"])


def _is_of(heading: re.Match, line: str) -> bool:
    return f" | {heading['run'].replace('commit ', '')}, load " in line


def run_of(heading: str) -> str:
    """Its date and commit, as its rows name them."""
    return HEADING.match(heading)["run"].replace("commit ", "")


def add(folder: Path, parts, part: str, run: dict) -> str | None:
    """One part of a run into the record there; says so if the recorded one stays."""
    table = Table(_read(folder / f"{NAME}.md"))
    taken = run["figures"][part]
    kept = table.put(part, taken, run["heading"])
    if kept is None:
        samples = json.loads(_read(folder / f"{NAME}.json") or "{}")
        figures = {**samples.get("figures", {}), part: {"machine": run["machine"], **taken}}
        record.write(folder, NAME, table.lines(parts), {"figures": figures})
    return kept


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
