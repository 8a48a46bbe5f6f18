# SPDX-License-Identifier: MIT
"""Begin at a tick. include/timebase/wait.h says the same for C.

    waiter = Waiter()                                   # learns the machine, <= 10 ms
    result = waiter.until_mono(default_clock().mono_ns() + 1_000_000, WaitFlag.SLEEP)
    print(f"{result.error_ns:+.1f} ns", result.mechanism.name, result.disturbance)
    waiter.delay(200)

A result tells when the C library reached the instant. Python's next line comes some 100 ns later,
and later still if another thread holds the interpreter's lock; `call`, which begins a Python
function, cannot do better. For work at the tick itself give the calendar a function of a shared
object (calendar.py, `timebase run`).

A waiter belongs to the thread that made it: in another one its methods raise RuntimeError. Waits
that are far ahead can be ended by Ctrl-C until their last 0.1 s.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

from timebase.api.clock import Clock, default_clock
from timebase.api.library import check, ffi, lib
from timebase.api.numbers import NS_PER_YEAR, checked_integer
from timebase.api.wait_result import (
    FineReading,
    WaiterDescription,
    WaitFlag,
    WaitResult,
    record_from_c,
)

# The library takes targets up to about 100 years ahead.
MOST_AHEAD_NS = 100 * NS_PER_YEAR
# C cannot be interrupted by Ctrl-C, so only the end of a wait is C's.
LAST_PART_NS = 100_000_000
SLICE_NS = 50_000_000


class Waiter:
    """Waits of one thread. Targets are integers: ticks 0 to 2^64 - 1, times in ns, 0 or more and
    at most 100 years ahead. TypeError for what is no integer (a float is not exact enough for a
    time of day), ValueError for what is out of range."""

    def __init__(self, clock: Clock | None = None):
        self.clock = clock or default_clock()
        self._waiter = ffi.new("struct timebase_waiter *")
        self._thread = threading.get_ident()
        self._is_lent = False
        check(lib.timebase_waiter_init(self._waiter, self.clock._clock))

    @property
    def handle(self):
        """The C waiter, for calls into the library from this thread."""
        if self._is_lent:
            raise RuntimeError("a function that is called by a Waiter needs one of its own to wait")
        return self._own()

    @contextmanager
    def lent(self):
        """The same for calls that call functions of Python: those may not wait by this waiter."""
        handle = self.handle
        self._is_lent = True
        try:
            yield handle
        finally:
            self._is_lent = False

    def until_ticks(self, ticks: int, flags: int = 0) -> WaitResult:
        """Wait until the counter shows `ticks`."""
        target = checked_integer("ticks", ticks, 0, 2**64 - 1)
        return self._wait("ticks", target, flags)

    def until_mono(self, mono_ns: int, flags: int = 0) -> WaitResult:
        """Wait until monotonic time is `mono_ns`."""
        return self._wait("mono", checked_integer("mono_ns", mono_ns, 0, 2**63 - 1), flags)

    def until_utc(self, utc_ns: int, flags: int = 0) -> WaitResult:
        """Wait until UTC is `utc_ns` (since 1970); follows steps of the system clock."""
        return self._wait("utc", checked_integer("utc_ns", utc_ns, 0, 2**63 - 1), flags)

    def delay(self, delay_ns: int, flags: int = 0) -> WaitResult:
        """Wait for `delay_ns` from now, 0 to 100 years."""
        delay = checked_integer("delay_ns", delay_ns, 0, MOST_AHEAD_NS)
        if delay > LAST_PART_NS:
            return self.until_mono(self.clock.mono_ns() + delay, flags)
        out = ffi.new("struct timebase_wait_result *")
        self._check(lib.timebase_delay_ns(self.handle, delay, _flags(flags), out))
        return record_from_c(WaitResult, out, ("late", "prepared"))

    def call(self, function, *, ticks=None, mono_ns=None, utc_ns=None, flags: int = 0):
        """Call `function()` at one of the targets; the result is of the moment the library called.
        With WaitFlag.REHEARSE it is called twice, the first time with rehearsing() true. What it
        raises is raised here, after the wait. To wait it needs a Waiter of its own."""
        targets = {"ticks": ticks, "mono": mono_ns, "utc": utc_ns}
        given = {kind: target for kind, target in targets.items() if target is not None}
        if len(given) != 1:
            raise TypeError("call: give exactly one of ticks, mono_ns and utc_ns")
        ((kind, target),) = given.items()
        target = checked_integer(kind, target, 0, 2**64 - 1 if kind == "ticks" else 2**63 - 1)
        return self._call(kind, target, flags, function)

    def calibrate(self) -> None:
        """Learn again, as after pinning the thread elsewhere."""
        check(lib.timebase_waiter_calibrate(self.handle))

    def set_margin(self, quantile: float = 0.995, cpu_share: float = 0.05) -> None:
        """How sleeping waits choose their margin: the quantile of wake-ups it covers, in (0, 1),
        and the share of a period that may be polled, in (0, 1]."""
        result = lib.timebase_waiter_set_margin(self.handle, quantile, cpu_share)
        if result == lib.TIMEBASE_E_INVALID:
            raise ValueError(
                f"margin: quantile {quantile} in (0, 1), cpu_share {cpu_share} in (0, 1]"
            )
        check(result)

    def describe(self) -> WaiterDescription:
        """What has been learnt so far."""
        out = ffi.new("struct timebase_waiter_description *")
        check(lib.timebase_waiter_describe(self._own(), out))
        return record_from_c(WaiterDescription, out, ("power_hint",))

    def read_fine(self, base_ticks: int) -> FineReading:
        """The counter finer than its steps, as ticks since `base_ticks`."""
        base = checked_integer("base_ticks", base_ticks, 0, 2**64 - 1)
        out = ffi.new("struct timebase_fine_reading *")
        result = check(lib.timebase_wait_read_fine(self._own(), base, out))
        return FineReading(out.ticks, out.bound_ticks, out.last_ticks, result == 0)

    def _own(self):
        if threading.get_ident() != self._thread:
            raise RuntimeError("a Waiter belongs to the thread that made it: make one in each")
        return self._waiter

    def _wait(self, kind: str, target: int, flags: int) -> WaitResult:
        wanted = _flags(flags)
        self._approach(kind, target, wanted)
        out = ffi.new("struct timebase_wait_result *")
        wait = getattr(lib, f"timebase_wait_until_{kind}")
        self._check(wait(self.handle, target, wanted, out))
        return record_from_c(WaitResult, out, ("late", "prepared"))

    def _call(self, kind: str, target: int, flags: int, function) -> WaitResult:
        wanted, raised = _flags(flags), []

        @ffi.callback("void(void *)")
        def event(_nothing):
            try:
                function()
            except BaseException as problem:  # noqa: BLE001 (raised again, behind the C code)
                raised.append(problem)

        self._approach(kind, target, wanted)
        out = ffi.new("struct timebase_wait_result *")
        wait = getattr(lib, f"timebase_wait_call_{kind}")
        with self.lent() as handle:
            result = wait(handle, target, wanted, event, ffi.NULL, out)
        if raised:
            raise raised[0]
        self._check(result)
        return record_from_c(WaitResult, out, ("late", "prepared"))

    def _left_ns(self, kind: str, target: int) -> int:
        if kind == "utc":
            return target - self.clock.utc_ns()
        if kind == "ticks":
            target = self.clock.at(target).mono_ns
        return target - self.clock.mono_ns()

    def _approach(self, kind: str, target: int, flags: int) -> None:
        """Up to the last 0.1 s in slices, between which Python sees its signals."""
        while (left := self._left_ns(kind, target)) > LAST_PART_NS:
            if left > MOST_AHEAD_NS:
                raise ValueError(f"{kind} {target}: more than 100 years ahead")
            if flags & lib.TIMEBASE_WAIT_SLEEP:
                time.sleep(min(left - SLICE_NS, 3600 * 10**9) / 1e9)
            else:
                check(
                    lib.timebase_delay_ns(self.handle, SLICE_NS, lib.TIMEBASE_WAIT_PLAIN, ffi.NULL)
                )

    def _check(self, result: int) -> None:
        if result == lib.TIMEBASE_E_INVALID:
            raise ValueError("the target is more than 100 years ahead")
        check(result)


def _flags(flags: int) -> int:
    every = sum(WaitFlag)
    wanted = checked_integer("flags", flags, 0, 2**32 - 1)
    if wanted & ~every:
        raise ValueError(f"flags {wanted:#x}: only members of WaitFlag")
    return wanted
