# SPDX-License-Identifier: MIT
"""A Python callable. The dispatching thread calls it and needs the interpreter's lock for that, so
the callable begins later than the dispatch. Its own beginning is measured too."""

from __future__ import annotations

import importlib
import inspect
import sys
import time
import traceback
from collections import Counter, deque
from operator import attrgetter
from pathlib import Path

from timebase.api.calendar import CFunction
from timebase.api.clock import default_clock
from timebase.api.errors import UnitTimedOut
from timebase.api.library import ffi
from timebase.run.action import Action, ActionError
from timebase.run.description import UnitDescription
from timebase.run.watchdog import Watchdog


class Script(Action):
    """`python = "module:function"`. The calendar's folder is searched first."""

    def __init__(self, unit: UnitDescription, folder: Path):
        super().__init__(unit, folder)
        self.callable = _find(*unit.target, folder)
        self.marks = deque()
        self.watchdog = Watchdog(unit.timeout_ns)
        # The dispatcher's clock: the kernel's may be microseconds away, and then a mark would lie
        # outside of its release.
        self._mono_ns = default_clock().mono_ns
        self.on_error = lambda text: None
        self.calls = 0
        self.exceptions: Counter = Counter()
        self.first_error: str | None = None
        self._timed_out = 0
        self._callback = ffi.callback("void(void *)", self._act)

    def function(self) -> CFunction:
        return CFunction(int(ffi.cast("uintptr_t", self._callback)), keep=self._callback)

    def text(self) -> str:
        return ":".join(self.unit.target)

    def timed_out(self) -> int:
        return self._timed_out

    def report(self) -> dict:
        return {
            "calls": self.calls,
            "exceptions": dict(self.exceptions),
            "timed_out": self._timed_out,
            "first_error": self.first_error,
        }

    def _act(self, _argument) -> None:
        """The time-out's exception can strike at any line between arm() and the end of disarm()."""
        begin = self._mono_ns()
        self.marks.append((begin, begin))
        self.calls += 1
        try:
            self.watchdog.arm(time.monotonic_ns())
            try:
                self.callable()
            except UnitTimedOut:
                raise
            except BaseException as problem:  # noqa: BLE001 (behind this is C code)
                self._count(problem)
            if self.watchdog.disarm():  # too late to be raised, or swallowed
                self._time_out(UnitTimedOut("after its last line"))
        except UnitTimedOut as problem:
            self.watchdog.disarm()
            self._time_out(problem)

    def _time_out(self, problem: UnitTimedOut) -> None:
        self._timed_out += 1
        self._complain(problem, "ran into its time-out")

    def _count(self, problem: BaseException) -> None:
        self.exceptions[type(problem).__name__] += 1
        self._complain(problem, f"raised {type(problem).__name__}")

    def _complain(self, problem: BaseException, what: str) -> None:
        if self.first_error is None:
            # Without the first frame, which is _act().
            frames = problem.__traceback__ and problem.__traceback__.tb_next
            lines = traceback.format_exception(type(problem), problem, frames)
            self.first_error = "".join(lines).rstrip()
            what += f"; the first time so:\n{self.first_error}"
        else:
            what = ""  # has been said
        self.on_error(what)


def _find(module: str, name: str, folder: Path):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        home = importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # noqa: BLE001 (whatever the module's own lines raise)
        kind = type(problem).__name__
        raise ActionError("python", f"importing {module} raised {kind}: {problem}") from None
    try:
        found = attrgetter(name)(home)
    except AttributeError:
        raise ActionError("python", f"module {module} has no {name}") from None
    if not callable(found):
        raise ActionError("python", f"{module}:{name} is {type(found).__name__}, not a function")
    _require_no_arguments(found, f"{module}:{name}")
    return found


def _require_no_arguments(function, name: str) -> None:
    try:
        inspect.signature(function).bind()
    except TypeError as problem:
        raise ActionError("python", f"{name} is called without arguments: {problem}") from None
    except ValueError:
        pass  # a builtin that does not tell
