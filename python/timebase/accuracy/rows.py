# SPDX-License-Identifier: MIT
"""The rows of a scenario: of each method all trials, then those without evidence of a disturbance,
then those of blocks at both ends of which the core was quiet, or busy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy

from timebase.accuracy.core import BUSY, QUIET, clock_steps
from timebase.accuracy.session import Session
from timebase.accuracy.summary import Trials, row

UNDISTURBED, SEEN_QUIET, SEEN_BUSY = "undisturbed", "quiet", "busy"


def rows_of(
    session: Session,
    scenario: str,
    found: dict[str, Trials],
    *,
    names: dict[str, str] | None = None,
    mute: tuple[str, ...] = (),
    by_sibling: bool = False,
) -> list[dict]:
    """`names` of the rows by method, else the methods' own; `mute` methods gather no evidence."""
    return [
        made
        for method, trials in found.items()
        for made in _rows(
            session,
            scenario,
            method,
            (names or {}).get(method, method),
            trials,
            method not in mute,
            by_sibling,
        )
    ]


def _rows(session, scenario, method, name, trials, evidence, by_sibling) -> Iterator[dict]:
    for subset, chosen in _subsets(session, trials, evidence, by_sibling):
        yield row(
            name if subset == "all" else f"{name}_{subset}",
            chosen,
            scenario=scenario,
            method=method,
            subset=subset,
            share=len(chosen) / len(trials) if len(trials) else 0.0,
            evidence=evidence,
            conditions=conditions(session, chosen),
        )


def _subsets(session, trials: Trials, evidence: bool, by_sibling: bool):
    yield "all", trials
    if evidence:
        yield UNDISTURBED, trials.undisturbed()
    if by_sibling and len(trials.looks):
        sibling = session.core.sibling(trials.looks)[trials.block]
        for subset, wanted in ((SEEN_QUIET, QUIET), (SEEN_BUSY, BUSY)):
            if (sibling == wanted).any():
                yield subset, trials.where(sibling == wanted)


def conditions(session: Session, trials: Trials) -> dict:
    """Under what these trials were made: what was measured of the core, and the thread's rights."""
    blocks = trials.blocks()
    sibling = session.core.sibling(blocks)
    return {
        "blocks": len(blocks),
        "busy_share": _share(sibling, BUSY),
        "quiet_share": _share(sibling, QUIET),
        "clock_steps": clock_steps(blocks) if len(blocks) else None,
        **session.rights,
    }


def _share(sibling: numpy.ndarray, wanted: int) -> float | None:
    return round(float(numpy.mean(sibling == wanted)), 4) if len(sibling) else None
