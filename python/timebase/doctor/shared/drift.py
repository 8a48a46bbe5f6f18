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
from timebase.doctor.tree import Tree

PATH = "/etc/timebase/timebased.conf"
DEFAULT_PPM = 50.0  # ASSUME_DRIFT_PPM


@dataclass(frozen=True)
class Drift:
    ppm: float = DEFAULT_PPM
    place: str | None = None  # "file:line"; None: the default
    problem: str | None = None  # the file's value is none


def read(tree: Tree) -> Drift:
    found = Drift()
    for number, line in enumerate((tree.text(PATH) or "").splitlines(), 1):
        key, equals, value = line.partition("#")[0].partition("=")
        if equals and key.strip() == "drift":
            found = _drift(value.strip(), f"{PATH}:{number}")
    return found


def _drift(text: str, place: str) -> Drift:
    try:
        ppm = float(text)
    except ValueError:
        ppm = math.nan
    if not (math.isfinite(ppm) and ppm > 0):
        return Drift(place=place, problem=f"{place}: drift = {text!r} is no rate above 0 in ppm.")
    return Drift(ppm, place)


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
            f"{PATH} if the oscillator is known to be so good.",
        )
    return Finding(
        "drift-mismatch",
        severity,
        f"{ours}, {theirs}: somebody knows this oscillator to be worse than the bound allows for.",
        f"Write `drift = {chrony.maxclockerror_ppm:g}` into {PATH}, or correct {chrony.path}.",
    )
