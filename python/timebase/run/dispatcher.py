# SPDX-License-Identifier: MIT
"""The thread that the calendar runs on: asks for what is real-time, learns the machine, has the
calendar admitted, runs it, and gives everything back, in whichever way it ends."""

from __future__ import annotations

import threading

from timebase.api.calendar import Calendar, learn_tick
from timebase.api.calendar_result import Problem, TickComb, UnitResult
from timebase.api.errors import TimebaseError
from timebase.api.realtime import EVERYTHING, Realtime, RealtimeBit
from timebase.api.wait import Waiter
from timebase.api.wait_result import WaiterDescription

WATCH_TICK_NS = 10**9
THREADS_OWN = RealtimeBit.AFFINITY | RealtimeBit.SCHEDULER | RealtimeBit.TIMER_SLACK


def wanted_bits(asked: bool | tuple[str, ...]) -> RealtimeBit:
    """What the file's `realtime` means. The CPU is pinned in any case: a waiter is good for one."""
    if asked is True:
        return EVERYTHING
    bits = RealtimeBit.AFFINITY
    for name in asked or ():
        bits |= RealtimeBit[name.upper()]
    return bits


class Dispatcher(threading.Thread):
    """start(), wait for `admitted`, look at `problems`, go() or give_up(), wait for `ended`,
    leave(). `calendar_of(comb)` makes the calendar once the machine is known."""

    def __init__(self, realtime: Realtime, calendar_of, avoid_tick: bool):
        super().__init__(name="timebase-dispatcher", daemon=True)
        self.realtime = realtime
        self.calendar_of = calendar_of
        self.avoid_tick = avoid_tick
        self.admitted, self.ended = threading.Event(), threading.Event()
        self._decided, self._may_leave = threading.Event(), threading.Event()
        self._goes = False
        self.granted, self.refused = RealtimeBit(0), ()
        self.comb: TickComb | None = None
        self.calendar: Calendar | None = None
        self.problems: list[Problem] = []
        self.waiter: WaiterDescription | None = None
        self.results: list[UnitResult] | None = None
        self.failure: BaseException | None = None

    # ---- from the main thread

    def go(self) -> None:
        self._goes = True
        self._decided.set()

    def give_up(self) -> None:
        self._decided.set()

    def leave(self) -> None:
        """The thread may end. Programs that it has started are killed with it."""
        self.give_up()
        self._may_leave.set()

    # ---- the thread

    def run(self) -> None:
        try:
            self.realtime.acquire()
            try:
                self._run()
            finally:
                self._give_back()
        except BaseException as problem:  # noqa: BLE001 (raised again in the main thread)
            self.failure = problem
        self.admitted.set()
        self.ended.set()
        self._may_leave.wait()

    def _give_back(self) -> None:
        """What is this thread's alone ends with it, even if the kernel refuses the way back."""
        try:
            self.realtime.release()
        except TimebaseError:
            if self.realtime.granted & ~THREADS_OWN:
                raise

    def _run(self) -> None:
        self.granted, self.refused = self.realtime.granted, self.realtime.refused
        waiter = Waiter()
        self.waiter = waiter.describe()
        if self.avoid_tick:
            self.comb = learn_tick(WATCH_TICK_NS)
        self.calendar = self.calendar_of(self.comb)
        self.problems = self.calendar.admit(waiter)
        self.admitted.set()
        self._decided.wait()
        if self._goes:
            self.results = self.calendar.run(waiter)
            self.waiter = waiter.describe()
