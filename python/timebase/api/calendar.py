# SPDX-License-Identifier: MIT
"""Units of work, each begun at its time. See include/timebase/calendar.h.

    units = [Unit("sample", sample, duration_ns=200_000, period_ns=1_000_000)]
    calendar = Calendar(units, length_ns=10**9)
    with Realtime(cpu=1):
        waiter = Waiter()
        for problem in calendar.admit(waiter):
            print(problem.text)
        results = calendar.run(waiter)

An action is a Python callable, begun some microseconds after its time because it needs the
interpreter's lock, or a CFunction, which is called without Python. run() releases the interpreter's
lock, but Python sees Ctrl-C only between two callables. To stop a run at any time, call run() in a
thread of its own and stop() in another. `timebase run` does all this from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from timebase.api.calendar_result import (
    Problem,
    Release,
    TickComb,
    UnitResult,
    comb_from_c,
    problem_from_c,
    release_from_c,
    unit_result_from_c,
)
from timebase.api.clock import Clock, default_clock
from timebase.api.errors import TimebaseError
from timebase.api.library import check, ffi, lib
from timebase.api.numbers import checked_integer
from timebase.api.wait import Waiter

MOST_NS = 2**60  # of any time in a unit or calendar
PROBLEMS_KEPT = 64
LOG_ENTRIES_MOST = 2**31


@dataclass(frozen=True)
class CFunction:
    """A C function `void function(void *argument)` and its argument, both addresses. `keep` is an
    object that must live as long as the two addresses are used."""

    address: int
    argument: int = 0
    keep: Any = None


@dataclass(frozen=True)
class Unit:
    """A unit of work. Times are in ns, 0 to 2^60; the header says what they mean. Only a CFunction
    can have a time-out: the dispatcher ends it by a jump, which would break the interpreter."""

    name: str
    action: Callable[[], object] | CFunction
    duration_ns: int
    ready_ns: int = 0
    period_ns: int = 0
    deadline_ns: int = 0
    timeout_ns: int = 0
    releases: int = 0
    flags: int = 0


class NotAdmittedError(TimebaseError):
    """The calendar was not run; `problems` says why."""

    def __init__(self, problems: list[Problem]):
        self.problems = problems
        faults = [problem.text for problem in problems if not problem.warning]
        super().__init__(
            "the calendar is not admitted: " + "; ".join(faults or ["no reason given"])
        )


class Calendar:
    """A calendar. It keeps the memory alive that C reads. One run at a time."""

    def __init__(
        self,
        units: Iterable[Unit],
        *,
        start_ns: int = 0,
        length_ns: int = 0,
        utilisation: float = 0.0,
        may_overlap: bool = False,
        comb: TickComb | None = None,
        avoid_tick: bool = False,
        log_capacity: int = 0,
    ):
        self.units = list(units)
        self._raised: list[BaseException] = []
        self._kept: list[Any] = []  # what C points to
        self._stop = ffi.new("int *")
        self._log = self._new_log(log_capacity)
        self._running = False
        calendar = self._calendar = ffi.new("struct timebase_calendar *")
        calendar.units = self._keep(ffi.new("struct timebase_unit[]", max(1, len(self.units))))
        calendar.unit_count = len(self.units)
        for number, unit in enumerate(self.units):
            self._fill(calendar.units[number], unit)
        calendar.start_ns = checked_integer("start_ns", start_ns, 0, 2**63 - 1)
        calendar.length_ns = checked_integer("length_ns", length_ns, 0, MOST_NS)
        calendar.utilisation = utilisation
        calendar.may_overlap = bool(may_overlap)
        calendar.avoid_tick = bool(avoid_tick)
        calendar.stop = self._stop
        calendar.log = self._log or ffi.NULL
        if comb is not None:
            calendar.comb = self._keep(ffi.new("struct timebase_tick_comb *", vars(comb)))

    def admit(self, waiter: Waiter | None = None) -> list[Problem]:
        """Checks the calendar before it starts. Returns at most 64 problems, and none if all is
        well. Only with a waiter does the check include what this machine can do."""
        room = ffi.new("struct timebase_calendar_problem[]", PROBLEMS_KEPT)
        handle = ffi.NULL if waiter is None else waiter.handle
        count = check(lib.timebase_calendar_admit(self._calendar, handle, room, PROBLEMS_KEPT))
        return [problem_from_c(room[number]) for number in range(min(count, PROBLEMS_KEPT))]

    def run(self, waiter: Waiter) -> list[UnitResult]:
        """Run until done or stopped, on this thread. NotAdmittedError if it is not admitted. An
        exception from a Python action stops the run, and is raised here at its end."""
        if self._running:
            raise RuntimeError("this calendar is running: make another one for another thread")
        results = ffi.new("struct timebase_unit_result[]", max(1, len(self.units)))
        self._raised.clear()
        self._running = True
        try:
            with waiter.lent() as handle:
                result = lib.timebase_calendar_run(self._calendar, handle, results)
        finally:
            self._running = False
        if result == lib.TIMEBASE_E_STALE:
            raise TimebaseError("the calendar's start had passed: nothing was run", result)
        check(result)
        if result == 1:
            raise NotAdmittedError(self.admit(waiter))
        if self._raised:
            raise self._raised[0]
        return [unit_result_from_c(results[number]) for number in range(len(self.units))]

    def stop(self) -> None:
        """End the run before its next release; from any thread, also before run()."""
        self._stop[0] = 1

    def take(self, most: int = 4096) -> list[Release]:
        """Takes the oldest entries out of the log. One thread at a time may call this."""
        room = ffi.new("struct timebase_release[]", most)
        return [release_from_c(room[number]) for number in range(self.take_into(room, most))]

    def take_into(self, room, most: int) -> int:
        """The same into a C array; how many."""
        return lib.timebase_release_log_take(self._log, room, most) if self._log else 0

    @property
    def lost(self) -> int:
        """Releases that the log had no room for."""
        return lib.timebase_release_log_lost(self._log) if self._log else 0

    def _keep(self, value):
        self._kept.append(value)
        return value

    def _new_log(self, capacity: int):
        checked_integer("log_capacity", capacity, 0, LOG_ENTRIES_MOST)
        if capacity == 0:
            return None
        log = ffi.new("struct timebase_release_log *")
        log.capacity = 1 << (capacity - 1).bit_length()  # the next power of two
        log.entries = self._keep(ffi.new("struct timebase_release[]", log.capacity))
        return log

    def _fill(self, out, unit: Unit) -> None:
        out.name = self._keep(ffi.new("char[]", unit.name.encode()))
        for name in ("ready_ns", "period_ns", "duration_ns", "deadline_ns", "timeout_ns"):
            value = checked_integer(f"unit {unit.name}: {name}", getattr(unit, name), 0, MOST_NS)
            setattr(out, name, value)
        out.releases = checked_integer("releases", unit.releases, 0, 2**64 - 1)
        out.flags = checked_integer("flags", unit.flags, 0, 2**32 - 1)
        if isinstance(unit.action, CFunction):
            self._keep(unit.action)
            out.action = ffi.cast("void(*)(void *)", unit.action.address)
            out.argument = ffi.cast("void *", unit.action.argument)
        else:
            out.action = self._keep(self._callback(unit))

    def _callback(self, unit: Unit):
        if not callable(unit.action):
            raise TypeError(f"unit {unit.name}: the action must be callable or a CFunction")
        if unit.timeout_ns:
            raise ValueError(f"unit {unit.name}: only a CFunction can have a time-out")

        def act(_argument):
            try:
                unit.action()
            except BaseException as problem:  # noqa: BLE001 (raised again, behind the C code)
                self._raised.append(problem)
                self.stop()

        return ffi.callback("void(void *)", act)


def learn_tick(watch_ns: int = 10**9, clock: Clock | None = None) -> TickComb:
    """Where the kernel's tick falls on this CPU: pin the thread first. Polls for `watch_ns`, 10 ms
    to 10 s, or less."""
    watch = checked_integer("watch_ns", watch_ns, 10_000_000, 10_000_000_000)
    out = ffi.new("struct timebase_tick_comb *")
    handle = (clock or default_clock())._clock
    check(lib.timebase_tick_comb_learn(handle, watch, out))
    return comb_from_c(out)
