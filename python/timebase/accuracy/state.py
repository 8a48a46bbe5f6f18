# SPDX-License-Identifier: MIT
"""The same waits when the core has done something else: polled for long, slept, worked on other
memory, or lowered its clock for vectors."""

from __future__ import annotations

from timebase.accuracy.extent import Extent
from timebase.accuracy.figure import axis, carried, figure, known, panel, ranges
from timebase.accuracy.rows import rows_of
from timebase.accuracy.scenario import (
    EXACT,
    LOOP,
    MUTE,
    REHEARSED,
    STATES,
    WATCH,
    is_possible,
    methods_of,
)
from timebase.accuracy.scenario import run as run_scenario
from timebase.accuracy.session import Session

SHARE = {"far": 0.05, "idle": 0.83, "work": 0.1, "vector": 0.02}  # of the seconds
LOOKS = {
    "the naive loop": ((LOOP,), "article"),
    "exact wait, rehearsed where there is the time": ((REHEARSED, EXACT), "ours"),
    "the stopwatch alone": ((WATCH,), "muted"),
}


def run(session: Session, extent: Extent, progress) -> dict:
    there = [scenario for scenario in STATES if is_possible(scenario)]
    rows, done = [], 0.0
    for scenario in there:
        share = SHARE[scenario.id]
        found = run_scenario(
            session,
            extent,
            scenario,
            methods_of(scenario),
            getattr(extent, scenario.id),
            share * extent.seconds["state"],
            lambda part, done=done, share=share: progress(done + share * part),
        )
        done += share
        names = {method: f"{method}_{scenario.id}" for method in found}
        rows += rows_of(
            session, scenario.id, found, names=names, mute=MUTE, by_sibling=scenario.by_sibling
        )
    progress(1.0)
    return {"rows": rows, "figures": [_picture(there, {row["name"]: row for row in rows})]}


def _picture(there: list, rows: dict) -> dict:
    idle = {method: rows[f"{method}_idle"] for method in (LOOP, REHEARSED)}
    share = carried(*idle.values(), most=90)
    high = f"raw_p{share}_ns"
    title = (
        f"After 100 ms idle {share} % of rehearsed waits begin within "
        f"{known(idle[REHEARSED][high])} of the tick, of the naive loop within "
        f"{known(idle[LOOP][high])}"
    )
    drawn = []
    for number, (label, (methods, role)) in enumerate(LOOKS.items()):
        found = {
            place + 0.22 * (number - 1): next(
                rows[name] for method in methods if (name := f"{method}_{scenario.id}") in rows
            )
            for place, scenario in enumerate(there)
        }
        drawn.append(ranges(label, role, list(found), list(found.values()), high="raw_p90_ns"))
    names = [scenario.words.replace(", ", ",\n", 1) for scenario in there]
    return figure(
        "state",
        None,
        title,
        [panel(axis("|error|, ns: median (dot) to 90th percentile", "log"),
               axis("", names=names), drawn)],
        "Where there are too few trials for a percentile, it is not drawn.",
    )  # fmt: skip
