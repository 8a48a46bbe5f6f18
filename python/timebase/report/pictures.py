# SPDX-License-Identifier: MIT
"""Figures as files: a PNG and an SVG each, in the colours that the report has on white paper."""

from __future__ import annotations

import io
import re
import textwrap
from pathlib import Path
from typing import Callable

import matplotlib

from timebase.report.file import write_whole
from timebase.report.panels import draw

COLOURS = {
    "ink": "#1d2327",
    "muted": "#5c666d",
    "grid": "#dfe3e5",
    "ours": "#1f6feb",
    "kernel": "#5f7d4f",
    "article": "#c2571a",
}
PAPER = "#ffffff"
TITLE_LETTERS, NOTE_LETTERS = 62, 94
UNBROKEN = re.compile(r"(\d) (?=%|[nµm]?s\b)")  # a number and its unit
DOTS_PER_INCH = 160


def save(found: list[dict], folder: Path, progress: Callable[[float], None]) -> list[str]:
    """Writes all figures, and makes the folder; the names of the files, in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for number, figure in enumerate(found):
        drawn = draw(figure, COLOURS, _title(figure), _lines(figure["note"], NOTE_LETTERS))
        for ending in ("png", "svg"):
            names.append(f"{figure['id']}.{ending}")
            write_whole(folder / names[-1], _bytes(drawn, ending, figure["id"]))
            drawn.set_layout_engine("none")  # laid out once is enough for both
        progress((number + 1) / len(found))
    return names


def _title(figure: dict) -> str:
    plural = "s" if "and" in (figure["paper"] or "") else ""
    paper = f"Figure{plural} {figure['paper']} of the paper. " if figure["paper"] else ""
    return _lines(paper + figure["title"], TITLE_LETTERS)


def _lines(text: str, letters: int) -> str:
    return textwrap.fill(UNBROKEN.sub("\\1\N{NO-BREAK SPACE}", text), letters)


def _bytes(drawn, ending: str, salt: str) -> bytes:
    buffer = io.BytesIO()
    metadata = {"Date": None} if ending == "svg" else None
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        drawn.savefig(buffer, format=ending, dpi=DOTS_PER_INCH, facecolor=PAPER, metadata=metadata)
    return buffer.getvalue()
