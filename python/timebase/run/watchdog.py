# SPDX-License-Identifier: MIT
"""Time-outs of Python callables.

The dispatcher stops C functions by a jump. A jump out of the interpreter would break it. So a
thread looks whether the callable runs for too long, and then has the interpreter raise UnitTimedOut
in it. The interpreter does so between two Python instructions: a callable that is in a long call of
C, as time.sleep, is stopped when that call returns. The exception comes up to a quarter of the
time-out too late, 1 ms at least, and by the time that the interpreter needs to change threads.
"""

from __future__ import annotations

import ctypes
import threading
import time

from timebase.api.errors import UnitTimedOut

LEAST_LOOK_NS = 1_000_000


class Watchdog:
    """Of one unit. arm() and disarm() on the dispatching thread; between them, and only there, one
    UnitTimedOut may be raised, by the time-out or by strike()."""

    def __init__(self, timeout_ns: int):
        self.timeout_ns = timeout_ns
        self._lock = threading.Lock()
        self._thread: int | None = None  # the armed one
        self._begin_ns = 0
        self._has_struck = False

    def arm(self, begin_ns: int) -> None:
        with self._lock:
            self._begin_ns = begin_ns
            self._has_struck = False
            self._thread = threading.get_ident()

    def disarm(self) -> bool:
        """Whether it has struck. May be interrupted by UnitTimedOut, and is then called again."""
        with self._lock:
            if self._thread is not None and self._has_struck:
                _raise_in(self._thread, None)  # under way, perhaps: not any more
            self._thread = None
            return self._has_struck

    def look(self) -> None:
        if self.timeout_ns and time.monotonic_ns() - self._begin_ns > self.timeout_ns:
            self.strike(self._begin_ns)

    def strike(self, begin_ns: int | None = None) -> None:
        """Stop what is running now; if `begin_ns` is given, only what began then."""
        with self._lock:
            is_meant = begin_ns is None or begin_ns == self._begin_ns
            if self._thread is not None and is_meant and not self._has_struck:
                self._has_struck = True
                _raise_in(self._thread, UnitTimedOut)


def _raise_in(thread: int, exception: type[BaseException] | None) -> None:
    """Have the interpreter raise it there at its next instruction; None takes it back."""
    what = ctypes.py_object(exception) if exception else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)


class Watch(threading.Thread):
    """Looks after all watchdogs that have a time-out."""

    def __init__(self, watchdogs: list[Watchdog]):
        super().__init__(name="timebase-watch", daemon=True)
        self.watchdogs = [watchdog for watchdog in watchdogs if watchdog.timeout_ns]
        self._end = threading.Event()

    def run(self) -> None:
        shortest_ns = min((watchdog.timeout_ns for watchdog in self.watchdogs), default=0)
        look_ns = max(LEAST_LOOK_NS, shortest_ns // 4)
        while self.watchdogs and not self._end.wait(look_ns / 1e9):
            for watchdog in self.watchdogs:
                watchdog.look()

    def close(self) -> None:
        self._end.set()
        self.join()
