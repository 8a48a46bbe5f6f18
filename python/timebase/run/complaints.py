# SPDX-License-Identifier: MIT
"""pydantic's errors as complaints about a calendar file: each by its line, table and key."""

from __future__ import annotations

from difflib import get_close_matches

from pydantic import BaseModel, ValidationError

from timebase.run.places import Path
from timebase.run.source import Source

SHAPES = {
    "calendar": "must be a table: write [calendar] on a line of its own",
    "unit": "must be an array of tables: write [[unit]] above each unit's keys",
}
SHAPE_ERRORS = ("model_type", "list_type", "too_short")


def complain_of_all(source: Source, document: dict, problem: ValidationError, models: dict) -> None:
    """`models`: of the tables, by their keys in the document, and "" for the document itself."""
    misshapen = set()
    for error in problem.errors(include_url=False):
        place = error["loc"]
        first, key = place[0], place[-1]
        if error["type"] in SHAPE_ERRORS:
            misshapen.add(first)
            continue
        where = where_of(document, place[:-1])
        if place == ("unit",):
            source.complain((), where, "no [[unit]]: there is nothing to do")
        elif error["type"] == "missing":
            source.complain(place[:-1], where, f"{key} is missing: it must be given")
        elif error["type"] == "extra_forbidden":
            model = models[first if len(place) > 1 else ""]
            source.complain(place, f"{where}: {key}", _unknown(key, model))
        else:  # what a type of values.py says
            source.complain(place, f"{where}: {key}", str(error["ctx"]["error"]))
    for first in misshapen:
        source.complain((first,), f"the calendar: {first}", SHAPES[first])


def where_of(document: dict, table: Path) -> str:
    """What people call a table: [calendar], unit "send"."""
    if not table:
        return "the calendar"
    if table[0] == "calendar":
        return "[calendar]"
    name = document["unit"][table[1]].get("name")
    return f'unit "{name}"' if isinstance(name, str) and name else f"unit number {table[1] + 1}"


def _unknown(key: str, model: type[BaseModel]) -> str:
    known = [field.alias or name for name, field in model.model_fields.items()]
    near = get_close_matches(key, known, 1)
    hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
    return f"there is no such key{hint}"
