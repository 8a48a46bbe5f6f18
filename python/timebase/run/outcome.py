# SPDX-License-Identifier: MIT
"""A session as one document: what `run --json` writes, and table and plot are made from."""

from __future__ import annotations

from timebase.api.calendar_result import UnitResult
from timebase.api.clock import default_clock
from timebase.api.realtime import RealtimeBit, name_of
from timebase.api.wait_result import Disturbance, WaiterDescription, mechanism_text
from timebase.run.action import Action
from timebase.run.admission import is_admitted, problem_document
from timebase.run.description import Description
from timebase.run.recorder import UnitRecord
from timebase.run.session import Session

# From the members of UnitResult to those of ReleaseBit.
COUNTS = {
    "late": "LATE",
    "overruns": "OVERRUN",
    "missed": "MISSED",
    "timed_out": "TIMED_OUT",
    "disturbed": "DISTURBED",
}


def outcome(session: Session) -> dict:
    from timebase.api.counter import probe
    from timebase.api.machine import describe

    about, dispatcher = session.description, session.dispatcher
    return {
        "machine": describe(probe()),
        "calendar": _calendar(about),
        "realtime": {
            "granted": [name_of(bit) for bit in RealtimeBit if bit & dispatcher.granted],
            "refused": [
                {"name": refusal.name, "reason": refusal.reason, "advice": refusal.advice}
                for refusal in dispatcher.refused
            ],
        },
        "waiter": _waiter(dispatcher.waiter),
        "tick": dispatcher.comb and vars(dispatcher.comb),
        "admitted": dispatcher.calendar is not None and is_admitted(dispatcher.problems),
        "problems": [problem_document(about, problem) for problem in dispatcher.problems],
        "run": _run(session),
        "units": unit_documents(session),
    }


def _calendar(about: Description) -> dict:
    return {
        "file": str(about.source.file),
        "start": about.calendar.start,
        "length_ns": about.calendar.length_ns,
        "cpu": about.calendar.cpu,
        "priority": about.calendar.priority,
        "utilisation": about.calendar.utilisation,
        "may_overlap": about.calendar.may_overlap,
        "avoid_tick": about.calendar.avoid_tick,
    }


def _waiter(found: WaiterDescription | None) -> dict | None:
    if found is None:
        return None
    document = dict(vars(found))
    document["mechanism"] = found.mechanism.name
    document["mechanism_text"] = mechanism_text(found.mechanism)
    document["evidence"] = [bit.name for bit in Disturbance if bit & found.evidence]
    return document


def _run(session: Session) -> dict | None:
    if session.recorder is None:
        return None
    started_ns = _start_ns(session)
    now = default_clock().now()
    return {
        "ended": _how_ended(session),
        "stopped_by": session.stopped_by,
        "failed_unit": session.failed_unit,
        "failure": session.failure,
        "start_mono_ns": started_ns,
        "start_utc_ns": None if started_ns is None else started_ns + now.utc_ns - now.mono_ns,
        "lost": session.recorder.lost,
    }


def _how_ended(session: Session) -> str:
    if session.is_abandoned:
        return "abandoned"
    if session.failed_unit or session.failure:
        return "error"
    return "stopped" if session.stopped_by else "done"


def _start_ns(session: Session) -> int | None:
    """As the first releases tell; None before any."""
    results = session.dispatcher.results
    starts = [
        record.first_target_ns
        - record.action.unit.ready_ns
        - (results[i].moved_ns if results else 0)
        for i, record in enumerate(session.recorder.units)
        if record.first_target_ns is not None
    ]
    return min(starts, default=None)


def unit_documents(session: Session) -> list[dict]:
    if session.recorder is None:
        return []
    results = session.dispatcher.results or [None] * len(session.actions)
    about = session.description
    return [
        _unit(about.line(number), action, record, result, session.failures[action.unit.name])
        for number, (action, record, result) in enumerate(
            zip(session.actions, session.recorder.units, results)
        )
    ]


def _unit(
    line: int, action: Action, record: UnitRecord, result: UnitResult | None, failed: int
) -> dict:
    """The counts are the dispatcher's: they are complete even if the log was not. If a unit never
    came back, there are none of the dispatcher, and those of the log are taken."""
    counts = {
        name: getattr(result, name) if result else record.outcomes[bit]
        for name, bit in COUNTS.items()
    }
    counts["timed_out"] += action.timed_out()
    source = result or record
    kind = action.unit.action
    return {
        "name": action.unit.name,
        "line": line,
        "action": {"kind": kind, "text": action.text()},
        "released": source.released,
        "skipped": source.skipped,
        **counts,
        "failed": failed,
        "disturbed_share": counts["disturbed"] / source.released if source.released else None,
        "disturbances": {name.lower(): count for name, count in record.disturbances.items()},
        "longest_ns": source.longest_ns,
        "total_ns": source.total_ns,
        "moved_ns": result.moved_ns if result else 0,
        "error_ns": record.errors.summary(),
        "histogram": record.errors.coarse(),
        "begin_ns": None if record.begins is None else record.begins.summary(),
        "python": action.report() if kind == "python" else None,
        "command": action.report() if kind == "command" else None,
    }
