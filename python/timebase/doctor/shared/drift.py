# SPDX-License-Identifier: MIT
"""One oscillator, two allowances: timebased's `drift`, and chrony's `maxclockerror`.

Both say by how much the rate may change unseen. chrony grows its error by it between polls, the
daemon its bound between claims. If they differ, one of them is wrong about this machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from timebase.doctor.finding import Finding
from timebase.doctor.shared.chrony import Chrony
from timebase.doctor.shared.place import DEFAULT
from timebase.doctor.tree import Tree

DEFAULT_PPM = 50.0  # ASSUME_DRIFT_PPM


@dataclass(frozen=True)
class Drift:
    path: str = DEFAULT  # of the configuration, whether it is there or not
    ppm: float = DEFAULT_PPM
    place: str | None = None  # "file:line"; None: the default
    problem: str | None = None  # the file's value is none


def read(tree: Tree, path: str = DEFAULT) -> Drift:
    found = Drift(path)
    for number, line in enumerate((tree.text(path) or "").splitlines(), 1):
        key, equals, value = line.partition("#")[0].partition("=")
        if equals and key.strip() == "drift":
            found = _drift(path, value.strip(), f"{path}:{number}")
    return found


def _drift(path: str, text: str, place: str) -> Drift:
    ppm = _ppm(text)
    if not (math.isfinite(ppm) and ppm > 0):
        problem = f"{place}: drift = {text!r} is no rate above 0 in ppm."
        return Drift(path, place=place, problem=problem)
    return Drift(path, ppm, place)


def _ppm(text: str) -> float:
    """With a unit, as timebased takes it, or without; not a number if it is none."""
    for unit, ppm in (("ppm", 1.0), ("ppb", 1e-3), ("", 1.0)):
        if text.endswith(unit):
            try:
                return float(text[: len(text) - len(unit)]) * ppm
            except ValueError:
                return math.nan
    return math.nan


def judge(drift: Drift, chrony: Chrony | None, is_daemon_used: bool) -> Iterator[Finding]:
    """`is_daemon_used`: else a difference does no harm yet."""
    if drift.problem:
        advice = "timebased refuses it as well: `timebased --check` names all that is wrong."
        yield Finding("drift-unusable", "warning", drift.problem, advice)
    elif chrony is not None:
        yield _together(drift, chrony, is_daemon_used)


def _together(drift: Drift, chrony: Chrony, is_daemon_used: bool) -> Finding:
    ours = f"timebased allows the oscillator {drift.ppm:g} ppm ({drift.place or 'its default'})"
    theirs = (
        f"chrony {chrony.maxclockerror_ppm:g} ppm (maxclockerror, "
        f"{chrony.maxclockerror_line or 'its default'})"
    )
    if chrony.maxclockerror_ppm == drift.ppm:
        return Finding("drift-agrees", "ok", f"{ours}, and so does {theirs}.")
    severity = "warning" if is_daemon_used else "info"
    if chrony.maxclockerror_ppm < drift.ppm:
        return Finding(
            "drift-mismatch",
            severity,
            f"{ours}, {theirs}: between two polls chrony claims an error that grows too slowly for "
            "what timebased takes this machine for, and the bound of UTC rests on that claim.",
            f"Write `maxclockerror {drift.ppm:g}` into {chrony.path}, or a smaller `drift` into "
            f"{drift.path} if the oscillator is known to be so good.",
        )
    return Finding(
        "drift-mismatch",
        severity,
        f"{ours}, {theirs}: somebody knows this oscillator to be worse than the bound allows for.",
        f"Write `drift = {chrony.maxclockerror_ppm:g}` into {drift.path}, or correct {chrony.path}.",
    )
