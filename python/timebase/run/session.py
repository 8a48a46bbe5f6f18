# SPDX-License-Identifier: MIT
"""One run of a calendar file, from the threads' start to their end.

    main thread   signals, takes releases out of the log, shows how it goes
    dispatcher    dispatcher.py: the calendar itself, on its CPU, without the interpreter's lock
    launches      launches.py: programs under way, if there are any
    watch         watchdog.py: time-outs of Python callables, if there are any

All but the dispatcher keep off its CPU if there is another one.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections import Counter, deque
from contextlib import contextmanager
from functools import partial

from timebase.api.errors import TimebaseError
from timebase.api.realtime import Realtime
from timebase.run.action import Action, ActionError
from timebase.run.assembly import make_calendar
from timebase.run.description import Description, UnitDescription
from timebase.run.dispatcher import Dispatcher, wanted_bits
from timebase.run.launches import Launches
from timebase.run.program import Program
from timebase.run.recorder import Recorder
from timebase.run.script import Script
from timebase.run.signals import Signals
from timebase.run.watchdog import Watch

LOOK_SEC = 0.05
LAST_CHANCE_SEC = 1.0  # for the dispatcher, after the second signal
# How long a thread may keep the interpreter's lock while a callable waits for it; usually 5 ms.
SWITCH_SEC = 0.0001


class Session:
    """The description names a CPU. `stdout_instead` takes programs' output if standard output is
    somebody else's. `histogram_us`: count errors in whole µs, too, up to so many. `notices` are texts
    to be shown, as they come."""

    def __init__(
        self,
        description: Description,
        actions: list[Action],
        stdout_instead=None,
        histogram_us: int | None = None,
    ):
        self.histogram_us = histogram_us
        self.description, self.actions, cpu = description, actions, description.calendar.cpu
        self.stdout_instead = stdout_instead
        self.notices: deque[str] = deque()
        self.failures: Counter = Counter()  # of actions, by unit
        self.recorder: Recorder | None = None
        self.stopped_by: str | None = None
        self.failed_unit: str | None = None  # ended the run by its on_error
        self.failure: str | None = None  # of the dispatcher, in the midst of the run
        self.is_abandoned = False
        self._said: set[tuple[str, str]] = set()
        self._is_stopped = self._is_forced = False
        self.cpus_before = os.sched_getaffinity(0)
        self.cpus_others = self.cpus_before - {cpu} or self.cpus_before
        self.programs = [action for action in actions if isinstance(action, Program)]
        self.scripts = [action for action in actions if isinstance(action, Script)]
        realtime = Realtime(
            cpu, description.calendar.priority, wanted_bits(description.calendar.realtime)
        )
        calendar_of = partial(make_calendar, description, actions)
        self.dispatcher = Dispatcher(realtime, calendar_of, description.calendar.avoid_tick)
        self.launches = Launches(self.programs)
        self.watch = Watch([script.watchdog for script in self.scripts])
        for action in self.programs + self.scripts:
            action.on_error = lambda text, unit=action.unit: self._on_error(unit, text)

    # ---- the run

    def run(self, wants_to_run, look) -> None:
        """`wants_to_run(session)` is asked once it is known whether the calendar is admitted, and
        `look(session)` called now and then while it runs. Afterwards everything is as before."""
        with Signals(self._stop, self._force) as signals, self._quiet_interpreter():
            try:
                self._open_programs()
                self.dispatcher.start()
                os.sched_setaffinity(0, self.cpus_others)
                self._wait(self.dispatcher.admitted)
                if self.dispatcher.failure is None and wants_to_run(self):
                    self._dispatch(look)
            finally:
                self._end(signals)
        failure = self.dispatcher.failure
        if isinstance(failure, TimebaseError) and self.recorder is not None:
            self.failure = str(failure)  # there are results up to there
        elif failure is not None:
            raise failure

    def _dispatch(self, look) -> None:
        self.recorder = Recorder(self.dispatcher.calendar, self.actions, self.histogram_us)
        if self._is_stopped:
            self.dispatcher.calendar.stop()
        for program in self.programs:
            program.empty_outputs()
        if self.programs:
            self.launches.start()
        if self.watch.watchdogs:
            self.watch.start()
        self.dispatcher.go()
        while not self._has_ended():
            self.recorder.drain()
            look(self)
        if not self.is_abandoned:
            self._wait_for_programs(look)
        self.recorder.drain()
        look(self)

    def _has_ended(self) -> bool:
        if not self._is_forced:
            return self.dispatcher.ended.wait(LOOK_SEC)
        for script in self.scripts:
            script.watchdog.strike()
        self.is_abandoned = not self.dispatcher.ended.wait(LAST_CHANCE_SEC)
        return True

    def _wait_for_programs(self, look) -> None:
        """Each until it ends by itself or by its time-out; a signal hurries them."""
        self.launches.finish()
        told = None
        while self.launches.is_alive():
            wanted = signal.SIGKILL if self._is_forced else signal.SIGTERM
            if (self._is_forced or self._is_stopped) and told != wanted:
                told = wanted
                self.launches.stop(wanted)
            self.launches.join(LOOK_SEC)
            look(self)

    def _wait(self, event) -> None:
        while not event.wait(LOOK_SEC):
            pass

    def _end(self, signals: Signals) -> None:
        """Ends all threads and programs and undoes all changes, after a run, a refusal or an
        error."""
        os.sched_setaffinity(0, self.cpus_before)
        self._end_dispatch()
        self.stopped_by = signals.seen[0] if signals.seen else None
        if self.launches.is_alive():
            self.launches.stop(signal.SIGKILL)
            self.launches.finish()
            self.launches.join(LAST_CHANCE_SEC)
        if self.is_abandoned:
            return
        if self.watch.is_alive():
            self.watch.close()
        self.dispatcher.leave()
        self.launches.close()
        for program in self.programs:
            program.close()

    def _end_dispatch(self) -> None:
        if self.dispatcher.ident is None or self.is_abandoned:
            return
        if self.dispatcher.calendar is not None:
            self.dispatcher.calendar.stop()
        self.dispatcher.give_up()
        while not self.dispatcher.ended.wait(LOOK_SEC):
            if self._is_forced:
                self.is_abandoned = not self.dispatcher.ended.wait(LAST_CHANCE_SEC)
                return

    # ---- its parts

    def _open_programs(self) -> None:
        for program in self.programs:
            try:
                program.open(self.launches.wake, self.cpus_others, self.stdout_instead)
            except ActionError as problem:
                number = self.description.units.index(program.unit)
                self.description.complain(number, problem.key, str(problem))
        self.description.source.finish()

    @contextmanager
    def _quiet_interpreter(self):
        """Callables do not wait for long for the interpreter's lock, nor for old garbage."""
        if not self.scripts:
            yield
            return
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SEC)
        gc.collect()
        gc.freeze()
        try:
            yield
        finally:
            gc.unfreeze()
            sys.setswitchinterval(before)

    def _on_error(self, unit: UnitDescription, text: str) -> None:
        self.failures[unit.name] += not self._is_forced  # else it was ended with the run
        first_line = text.split("\n", 1)[0]
        if text and (unit.name, first_line) not in self._said:
            self._said.add((unit.name, first_line))
            self.notices.append(f'unit "{unit.name}" {text}')
        if unit.on_error == "stop" and self.dispatcher.calendar is not None:
            self.failed_unit = unit.name
            self.dispatcher.calendar.stop()

    def _stop(self) -> None:
        self._is_stopped = True
        if self.dispatcher.calendar is not None:
            self.dispatcher.calendar.stop()

    def _force(self) -> None:
        self._is_forced = True
