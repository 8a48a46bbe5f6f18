# SPDX-License-Identifier: MIT
"""Options of several verbs: durations, and the page of a shared clock."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import typer

# typer evaluates annotations, and Python 3.9 does not know `int | None`.
MaybeInt, MaybeFloat = Optional[int], Optional[float]
MaybeText, MaybePath = Optional[str], Optional[Path]


def duration_ns(text: MaybeText) -> MaybeInt:
    """For typer's callback=: "250ms" as ns. Above 0."""
    from timebase.text.duration import parse_duration

    if text is None or isinstance(text, int):
        return text
    try:
        found = parse_duration(text)
    except ValueError as problem:
        raise typer.BadParameter(str(problem)) from None
    if found == 0:
        raise typer.BadParameter("must be above 0")
    return found


PAGE_OPTION = typer.Option(None, help="The page [default: /run/timebase/page].")
