# SPDX-License-Identifier: MIT
"""The time: a counter and a page. include/timebase/clock.h says the same for C.

All times are integers in nanoseconds, all ticks unsigned 64-bit integers. Every function here may
be called from any thread at any time. What a reading costs from Python: bench/python_reading, and
bench/results/languages.md beside other languages.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from enum import IntEnum

from timebase.api.errors import TimebaseError
from timebase.api.library import check, ffi, lib, text_of
from timebase.api.reader import Reader
from timebase.api.stale import why_page_is_stale, why_wait_is_stale

NS_PER_SEC = 1_000_000_000
# The longest wait in C: meanwhile Python handles no signal.
WAIT_SLICE_NS = 100_000_000
DEFAULT_PAGE = "/run/timebase/page"  # TIMEBASE_PAGE_PATH


def enum_of(name: str, c_enum: str, prefix: str) -> type[IntEnum]:
    """A Python enum with the members of a C one, so that no value is written twice."""
    members = ffi.typeof(f"enum {c_enum}").relements
    return IntEnum(name, {key[len(prefix) :]: value for key, value in members.items()})


Status = enum_of("Status", "timebase_status", "TIMEBASE_STATUS_")
STATUSES = {int(status): status for status in Status}  # by number, without a call
Maintenance = enum_of("Maintenance", "timebase_maintenance", "TIMEBASE_MAINTENANCE_")
AttachmentState = enum_of("AttachmentState", "timebase_attachment_state", "TIMEBASE_ATTACHMENT_")


@dataclass(frozen=True)
class Interval:
    """Time is not before `earliest_ns` and not after `latest_ns` (since 1970-01-01 UTC).

    `status` says what kind of promise that is: see Clock.interval and Clock.realtime_interval. An
    interval that ends before it begins is empty. It is before nothing, after nothing and overlaps
    nothing.
    """

    earliest_ns: int
    latest_ns: int
    status: Status

    @property
    def width_ns(self) -> int:
        return max(0, self.latest_ns - self.earliest_ns)

    def before(self, other: Interval) -> bool:
        """Whether every moment of this interval is before every moment of the other one."""
        return self.earliest_ns <= self.latest_ns < other.earliest_ns <= other.latest_ns

    def overlaps(self, other: Interval) -> bool:
        """Whether both intervals have a moment in common. Then it is unknown which event came
        first."""
        first = max(self.earliest_ns, other.earliest_ns)
        return first <= min(self.latest_ns, other.latest_ns)

    def contains(self, ns: int) -> bool:
        return self.earliest_ns <= ns <= self.latest_ns

    def intersect(self, other: Interval) -> Interval | None:
        """The interval in which time is if both intervals are right. None if they do not overlap.
        The status is that of this interval."""
        if not self.overlaps(other):
            return None
        return Interval(
            max(self.earliest_ns, other.earliest_ns),
            min(self.latest_ns, other.latest_ns),
            self.status,
        )


@dataclass(frozen=True)
class Instant:
    """All times and bounds of one tick. Errors are half-widths: time +/- error."""

    ticks: int
    mono_ns: int
    utc_ns: int
    maxerror_ns: int
    utc_maxerror_ns: int
    flags: int
    esterror_ns: int | None = None
    """Against the reference clock, probably: no promise. None: nothing is known."""

    @property
    def status(self) -> Status:
        return Status(self.flags & lib.TIMEBASE_LINE_STATUS_MASK)

    @property
    def is_estimate(self) -> bool:
        """utc_maxerror_ns leaves out a term, as the kernel's own claim does, and so is no bound."""
        return bool(self.flags & lib.TIMEBASE_LINE_ESTIMATE)

    @property
    def is_promise(self) -> bool:
        """utc_maxerror_ns holds, if what the status rests on does: SYNCHRONIZED, and no estimate."""
        return self.status is Status.SYNCHRONIZED and not self.is_estimate

    @property
    def is_never_moved(self) -> bool:
        """Nothing would tell if this guest were stopped or moved: its administrator has said that
        it never is (never_moved = yes)."""
        return bool(self.flags & lib.TIMEBASE_LINE_NEVER_MOVED)

    @property
    def is_counter_distrusted(self) -> bool:
        """The kernel no longer uses this counter for its own clock: UNRELIABLE for as long."""
        return bool(self.flags & lib.TIMEBASE_LINE_COUNTER_DISTRUSTED)

    @property
    def tai_offset_sec(self) -> int | None:
        """TAI - UTC in seconds. None while the kernel does not know it."""
        return self._tai_offset_sec if self.flags & lib.TIMEBASE_LINE_TAI_VALID else None

    @property
    def tai_ns(self) -> int:
        """TAI in ns since 1970-01-01 TAI. Equal to UTC while the kernel does not know the
        difference."""
        return self.utc_ns + self._tai_offset_sec * NS_PER_SEC

    @property
    def _tai_offset_sec(self) -> int:
        upper = self.flags >> lib.TIMEBASE_LINE_TAI_SHIFT
        return upper - 0x10000 if upper >= 0x8000 else upper

    @property
    def leap_sec(self) -> int:
        """Seconds that the end of the day inserts (1) or deletes (-1); else 0."""
        if self.flags & lib.TIMEBASE_LINE_LEAP_INSERT:
            return 1
        return -1 if self.flags & lib.TIMEBASE_LINE_LEAP_DELETE else 0


def instant_from_c(out) -> Instant:
    return Instant(
        out.ticks,
        out.mono_ns,
        out.utc_ns,
        out.maxerror_ns,
        out.utc_maxerror_ns,
        out.flags,
        out.esterror_ns,
    )


@dataclass(frozen=True)
class Attachment:
    """The state of a clock's attachment to a page. Counts begin when the clock was attached."""

    state: AttachmentState
    error: str | None
    """Why the page cannot be followed just now; None: it can."""
    seq: int
    age_ns: int
    """Since the newest line began."""
    mono_offset_ns: int
    """CLOCK_MONOTONIC here - the page's: a time namespace, else 0."""
    renewals: int
    publications: int
    openings: int
    refusals: int
    joins: int


def attachment_from_c(out) -> Attachment:
    values = {name: getattr(out, name) for name, _ in ffi.typeof(out).fields}
    values["state"] = AttachmentState(out.state)
    values["error"] = text_of(out.error) if out.error < 0 else None
    return Attachment(**values)


class Clock(Reader):
    """A clock of the C library. Made by default_clock() or Clock.attach().

    utc_ns(), mono_ns(), tai_ns() and their _unordered forms are those of Reader.
    """

    def __init__(self, handle):
        self._read(handle)

    def _read(self, handle) -> None:
        self._clock = handle
        self._point(int(ffi.cast("uintptr_t", handle)))

    @classmethod
    def attach(cls, path: str | os.PathLike | None = None) -> Clock:
        """The clock that all processes share: the page at `path`, or the daemon's.

        Raises TimebaseError if there is no such file, or if it is of an untrusted user or of
        another boot. Give the clock back with close(), or use `with`. No other thread may read the
        clock then.
        """
        out = ffi.new("timebase_clock **")
        name = os.fsdecode(path) if path is not None else DEFAULT_PAGE
        if "\0" in name:  # C would take the part before it for the path
            text = f"cannot attach to {name!r}: a path has no null byte"
            raise TimebaseError(text, lib.TIMEBASE_E_INVALID)
        where = ffi.NULL if path is None else ffi.new("char[]", os.fsencode(path))
        result = lib.timebase_clock_attach(out, where)
        if result < 0:
            # One code stands for several causes, which the command tells apart.
            which = f"`timebase status --page {shlex.quote(name)}` says more"
            is_stale = result == lib.TIMEBASE_E_STALE
            why = why_page_is_stale(name) if is_stale else text_of(result)
            raise TimebaseError(f"cannot attach to {name}: {why}; {which}", result)
        return cls(out[0])

    @property
    def attachment(self) -> Attachment:
        """Looks at the page and returns the state. The state of the process' own clock is
        PRIVATE."""
        out = ffi.new("struct timebase_attachment *")
        check(lib.timebase_clock_attachment(self._clock, out))
        return attachment_from_c(out[0])

    def close(self) -> None:
        """Detaches. Afterwards this object reads the process' own clock. The process' own clock
        itself is not changed by close()."""
        clock = self._clock
        self._read(lib.timebase_clock_default())
        lib.timebase_clock_detach(ffi.cast("timebase_clock *", clock))

    def __enter__(self):
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def now(self) -> Instant:
        """Reads the counter, and returns all times and bounds of that tick. Ordered."""
        out = ffi.new("struct timebase_instant *")
        lib.timebase_now(self._clock, out)
        return instant_from_c(out)

    def at(self, ticks: int) -> Instant:
        """Times and bounds of a tick that was read earlier, or of one to come. Exact for the last
        60 to 160 ms. For other ticks the present rate is assumed, and the bounds say how wrong that
        can be."""
        out = ffi.new("struct timebase_instant *")
        lib.timebase_at(self._clock, ticks, out)
        return instant_from_c(out)

    def utc_ns_array(self, ticks):
        """UTC of each tick of an array, as at(tick).utc_ns has it, in one call of C: a numpy array
        of int64 of the same shape. Needs numpy. Ticks are an array of unsigned integers."""
        import numpy

        given = numpy.asarray(ticks)
        if given.size and given.dtype.kind not in "ui":
            raise TypeError(f"ticks are whole numbers, not {given.dtype}")
        if given.dtype.kind == "i" and given.size and given.min() < 0:
            raise ValueError(f"ticks are unsigned: {given.min()}")
        stamps = numpy.ascontiguousarray(given, dtype=numpy.uint64)
        utc_ns = numpy.empty(given.shape, dtype=numpy.int64)
        lib.timebase_utc_at_many(
            self._clock,
            ffi.from_buffer("uint64_t[]", stamps),
            stamps.size,
            ffi.from_buffer("int64_t[]", utc_ns, require_writable=True),
        )
        return utc_ns

    def interval(self) -> Interval:
        """The interval in which true UTC is, if who tells it is right about its own error. A promise
        only if the status is SYNCHRONIZED, and the reading no estimate (Instant.is_estimate), as
        those of a private clock are. Ordered."""
        earliest_ns, latest_ns, status = self._utc_interval()
        return Interval(earliest_ns, latest_ns, STATUSES[status])

    def realtime_interval(self) -> Interval:
        """The interval in which CLOCK_REALTIME is. A promise with any status but UNKNOWN and
        UNRELIABLE, as long as the system clock is not stepped, nor slewed by more than 500 ppm.
        Ordered."""
        earliest_ns, latest_ns, status = self._realtime_interval()
        return Interval(earliest_ns, latest_ns, STATUSES[status])

    def wait_bound(self, maxerror_ns: int, timeout_ns: int | None = None) -> Interval | None:
        """Waits until the bound of true UTC is a promise and at most `maxerror_ns`, and returns the
        interval. Returns None if `timeout_ns` has passed and the promised bound is wider. Raises
        TimebaseError if there is no promise at all, and EstimateError at once if nobody vouches
        for the bound. With timeout_ns=None it waits without end; Ctrl-C ends it."""
        out = ffi.new("struct timebase_interval *")

        def wait(deadline_ns):
            return lib.timebase_clock_wait_bound(self._clock, maxerror_ns, deadline_ns, out)

        if not self._wait(wait, timeout_ns):
            return None
        return Interval(out.earliest_ns, out.latest_ns, Status.SYNCHRONIZED)

    def wait_after(self, utc_ns: int, timeout_ns: int | None = None) -> bool:
        """Waits until true UTC is certainly later than utc_ns (commit-wait). False if `timeout_ns`
        has passed before. All else is as in wait_bound."""

        def wait(deadline_ns):
            return lib.timebase_clock_wait_after(self._clock, utc_ns, deadline_ns)

        return self._wait(wait, timeout_ns)

    def _wait(self, wait, timeout_ns: int | None) -> bool:
        """Waits in slices. Python handles its signals between two of them."""
        end_ns = None if timeout_ns is None else self.mono_ns() + timeout_ns
        while True:
            slice_ns = self.mono_ns() + WAIT_SLICE_NS
            deadline_ns = slice_ns if end_ns is None else min(end_ns, slice_ns)
            result = wait(deadline_ns)
            if result not in (lib.TIMEBASE_E_TIMEOUT, lib.TIMEBASE_E_STALE):
                check(result)
                return True
            is_over = end_ns is not None and self.mono_ns() >= end_ns
            has_ended_early = self.mono_ns() < deadline_ns
            if result == lib.TIMEBASE_E_STALE and (is_over or has_ended_early):
                why = why_wait_is_stale(self.now().status.name, not has_ended_early)
                raise TimebaseError(why, result)
            if is_over:
                return False

    def ticks_at_utc(self, utc_ns: int) -> int:
        """The first tick at which the clock will show, or showed, this UTC or a later one."""
        return lib.timebase_ticks_at_utc(self._clock, utc_ns)

    def ticks_at_mono(self, mono_ns: int) -> int:
        """The first tick at which the clock will show, or showed, this monotonic time."""
        return lib.timebase_ticks_at_mono(self._clock, mono_ns)

    def set_maintenance(self, maintenance: int) -> None:
        """Who renews the clock. Maintenance.AUTOMATIC: its readers, about every 100 ms of use.
        Maintenance.MANUAL: a thread that calls maintain() at least once a second."""
        check(lib.timebase_clock_set_maintenance(self._clock, maintenance))

    def maintain(self) -> bool:
        """Compares the clock with the kernel's and publishes. False if another thread is doing so,
        or has just done so."""
        result = lib.timebase_clock_maintain(self._clock)
        if result == lib.TIMEBASE_E_BUSY:
            return False
        check(result)
        return True

    def statistics(self) -> dict:
        """What has happened to the clock so far: the members of struct timebase_statistics."""
        out = ffi.new("struct timebase_statistics *")
        check(lib.timebase_clock_statistics(self._clock, out))
        return {name: getattr(out, name) for name, _ in ffi.typeof(out[0]).fields}


def default_clock() -> Clock:
    """The process' own clock. Its page is private, its readers renew it, and it needs no
    close()."""
    return Clock(lib.timebase_clock_default())
