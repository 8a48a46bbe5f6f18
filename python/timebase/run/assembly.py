# SPDX-License-Identifier: MIT
"""From what a file says, and actions made ready, to the calendar that the dispatcher runs."""

from __future__ import annotations

from timebase.api.calendar import MOST_NS, Calendar, Unit
from timebase.api.calendar_result import TickComb
from timebase.api.clock import NS_PER_SEC, default_clock
from timebase.api.wait_result import WaitFlag
from timebase.run.action import Action
from timebase.run.description import Description, UnitDescription
from timebase.text.duration import show_duration

# The log holds the releases of two seconds; it is emptied every 50 ms.
LOG_SEC, LOG_LEAST, LOG_MOST = 2, 1 << 12, 1 << 20
# Between asking for "next second" and the first release, at least.
START_LEAD_NS = 50_000_000
WAITS = {"exact": WaitFlag(0), "plain": WaitFlag.PLAIN, "sleep": WaitFlag.SLEEP}


def make_calendar(about: Description, actions: list[Action], comb: TickComb | None) -> Calendar:
    """CalendarFileError if the start has passed, or is too far ahead."""
    rate = sum(NS_PER_SEC / unit.period_ns for unit in about.units if unit.period_ns)
    return Calendar(
        [_unit_of(unit, action) for unit, action in zip(about.units, actions)],
        start_ns=_start_ns(about),
        length_ns=about.calendar.length_ns,
        utilisation=about.calendar.utilisation,
        may_overlap=about.calendar.may_overlap,
        comb=comb,
        avoid_tick=about.calendar.avoid_tick,
        log_capacity=int(min(max(LOG_LEAST, rate * LOG_SEC), LOG_MOST)),
    )


def _start_ns(about: Description) -> int:
    """Monotonic; 0 for as soon as possible. UTC and monotonic time run at one pace, and a step of
    UTC between now and then is not followed."""
    start = about.calendar.start
    if start == "now":
        return 0
    now = default_clock().now()
    if start == "next second":
        start = (now.utc_ns + START_LEAD_NS) // NS_PER_SEC * NS_PER_SEC + NS_PER_SEC
    start_ns = now.mono_ns + start - now.utc_ns
    if start <= now.utc_ns:
        _refuse_start(about, f"was {show_duration(now.utc_ns - start)} ago")
    if start_ns > MOST_NS:
        _refuse_start(about, "is too far ahead: at most 36 years after the machine was started")
    return start_ns


def _refuse_start(about: Description, what: str) -> None:
    about.source.complain(("calendar", "start"), "[calendar]: start", what)
    about.source.finish()


def _unit_of(unit: UnitDescription, action: Action) -> Unit:
    flags = WAITS[unit.wait]
    for name in ("never_early", "prepare", "rehearse", "save_power", "steady"):
        if getattr(unit, name):
            flags |= WaitFlag[name.upper()]
    return Unit(
        name=unit.name,
        action=action.function(),
        duration_ns=unit.duration_ns,
        ready_ns=unit.ready_ns,
        period_ns=unit.period_ns,
        deadline_ns=unit.deadline_ns,
        timeout_ns=action.timeout_ns,
        releases=unit.releases,
        flags=int(flags),
    )
