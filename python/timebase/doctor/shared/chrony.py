# SPDX-License-Identifier: MIT
"""What chrony was told in its configuration: the lines that a bound of UTC rests on.

As chronyd reads it: `include` takes a pattern, `confdir` the *.conf of folders, the last word of a
directive counts; names of directives have no case, and ! # ; % begin comments.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from timebase.doctor.finding import Finding
from timebase.doctor.tree import Tree

PLACES = ("/etc/chrony/chrony.conf", "/etc/chrony.conf")
DEFAULT_MAXCLOCKERROR_PPM = 1.0
MOST_FILES = 100  # a file may include itself


@dataclass(frozen=True)
class Chrony:
    path: str
    unreadable: tuple = ()  # what it includes and this user may not read
    maxclockerror_ppm: float = DEFAULT_MAXCLOCKERROR_PPM
    maxclockerror_line: str | None = None  # "file:line"; None: the default
    rtcsync: bool = False
    hwtimestamp: bool = False
    leapsectz: str | None = None


def read(tree: Tree) -> Chrony | None:
    """None: no chrony here, or its configuration may not be read."""
    path = next((path for path in PLACES if tree.text(path) is not None), None)
    if path is None:
        return None
    known: dict = {}
    unreadable: list[str] = []
    for place, name, values in _directives(tree, path, unreadable):
        known.update(_meaning(place, name, values))
    return Chrony(path, tuple(unreadable), **known)


def _directives(tree: Tree, path: str, unreadable: list) -> Iterator[tuple]:
    """("file:line", directive, [values]) in the order in which chronyd meets them."""
    waiting, seen = [(path, iter(()), True)], 0
    while waiting:
        path, rest, is_new = waiting.pop()
        if is_new:
            text = tree.text(path)
            seen += 1
            if text is None or seen > MOST_FILES:
                unreadable.append(path)
                continue
            rest = iter(list(enumerate(text.splitlines(), 1)))
        for number, line in rest:
            words = line.split()
            if not words or words[0][0] in "!#;%":
                continue
            name, values = words[0].lower(), words[1:]
            if name in ("include", "confdir"):
                waiting.append((path, rest, False))
                found = _included(tree, name, values)
                waiting.extend((one, iter(()), True) for one in reversed(found))
                break
            yield f"{path}:{number}", name, values


def _included(tree: Tree, name: str, values: list) -> list[str]:
    if name == "include":
        return tree.names(values[0]) if values and values[0].startswith("/") else []
    # Of files with one name in several folders the first folder's counts.
    found: dict[str, str] = {}
    for folder in values:
        if folder.startswith("/"):
            for path in tree.names(f"{folder}/*.conf"):
                found.setdefault(posixpath.basename(path), path)
    return [path for _, path in sorted(found.items())]


def _meaning(place: str, name: str, values: list) -> dict:
    if name == "maxclockerror" and values:
        ppm = _number(values[0])
        return {} if ppm is None else {"maxclockerror_ppm": ppm, "maxclockerror_line": place}
    if name in ("rtcsync", "hwtimestamp"):
        return {name: True}
    return {"leapsectz": values[0]} if name == "leapsectz" and values else {}


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def judge(chrony: Chrony | None) -> Iterator[Finding]:
    if chrony is None:
        return
    if not chrony.rtcsync:
        yield Finding(
            "chrony-rtcsync",
            "warning",
            f"{chrony.path} has no rtcsync: chronyd leaves the kernel's clock marked as not "
            "synchronised, and all who ask the kernel for its error are told 16 s.",
            f"Add the line `rtcsync` to {chrony.path} and restart chronyd.",
        )
    if chrony.unreadable:
        yield Finding(
            "chrony-unreadable",
            "info",
            f"{chrony.path} includes what this user may not read: {', '.join(chrony.unreadable)}.",
            "Look again as root.",
        )
