# SPDX-License-Identifier: MIT
"""Converts ticks long after they were read. include/timebase/timeline.h says the same for C.

    with Timeline("/var/lib/timebase/timeline") as timeline:
        instant = timeline.at(ticks)                 # as it was told then, to the nanosecond
        times = timeline.at_many(array_of_ticks)     # numpy, fastest if sorted
        print(timeline.boots, timeline.gaps)

If a tick cannot be converted, TimelineError says why. A timeline belongs to one thread at a
time.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from typing import NamedTuple

from timebase.api.clock import Instant, enum_of, instant_from_c
from timebase.api.errors import TimebaseError
from timebase.api.library import check, ffi, lib, text_of
from timebase.api.numbers import checked_integer

Reason = enum_of("Reason", "timebase_timeline_reason", "TIMEBASE_TIMELINE_")
DEFAULT_FOLDER = "/var/lib/timebase/timeline"


class TimelineError(TimebaseError):
    """A tick, or a time, that a timeline cannot convert; `code` says why."""


@dataclass(frozen=True)
class Boot:
    """What a timeline holds of one boot and counter."""

    id: uuid.UUID
    counter_id: int
    gap_count: int
    first_ticks: int
    last_ticks: int
    first_utc_ns: int
    last_utc_ns: int


@dataclass(frozen=True)
class Gap:
    """Ticks from `from_ticks` to before `to_ticks` for which there is no line."""

    boot: uuid.UUID
    counter_id: int
    reason: Reason
    from_ticks: int
    to_ticks: int
    from_utc_ns: int
    to_utc_ns: int


@dataclass(frozen=True)
class Damage:
    """Bytes of a file that are no record, and were skipped."""

    file: str
    offset: int
    size: int


class Instants(NamedTuple):
    """Arrays, one element for each tick; zeros where `errors` is not 0."""

    ticks: object
    mono_ns: object
    utc_ns: object
    maxerror_ns: object
    utc_maxerror_ns: object
    flags: object
    errors: object  # 0, or the negative code of the reason


def _boot_bytes(boot) -> bytes:
    """The 16 bytes of a boot's id: a UUID, its text or the bytes; NULL for None."""
    if boot is None:
        return ffi.NULL
    if isinstance(boot, str):
        boot = uuid.UUID(boot)
    return boot.bytes if isinstance(boot, uuid.UUID) else bytes(boot)


def _checked_boot(boot):
    found = _boot_bytes(boot)
    if found != ffi.NULL and len(found) != lib.TIMEBASE_BOOT_ID_SIZE:
        raise ValueError(f"a boot id has 16 bytes, not {len(found)}")
    return found


class Timeline:
    """The timeline in a folder. To be closed, or used as a context manager."""

    def __init__(self, folder: str | os.PathLike = DEFAULT_FOLDER, draw_on: bool = False):
        """With `draw_on`, ticks after the newest line are converted by that line. Its bound grows,
        and another line, which is not in the timeline, may have followed it."""
        out = ffi.new("timebase_timeline **")
        result = lib.timebase_timeline_open(out, os.fsencode(folder))
        if result < 0:
            raise TimebaseError(f"timeline {os.fsdecode(folder)}: {_text_of(result)}", result)
        self._handle = out[0]
        self.folder = os.fsdecode(folder)
        lib.timebase_timeline_set_drawing_on(self._timeline, draw_on)

    @property
    def _timeline(self):
        if self._handle is None:
            raise ValueError(f"timeline {self.folder}: it is closed")
        return self._handle

    def close(self) -> None:
        if self._handle is not None:
            lib.timebase_timeline_close(self._handle)
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_about) -> None:
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) is not None:
            self.close()

    def at(self, ticks: int, boot=None) -> Instant:
        """Converts a tick. `boot` (UUID, text or bytes) is needed if several boots had this
        tick."""
        number = checked_integer("ticks", ticks, 0, 2**64 - 1)
        out = ffi.new("struct timebase_instant *")
        result = lib.timebase_timeline_at(self._timeline, _checked_boot(boot), number, out)
        if result < 0:
            raise TimelineError(f"tick {number}: {self.explain(result, number, boot)}", result)
        return instant_from_c(out)

    def at_many(self, ticks, boot=None) -> Instants:
        """The same for an array of ticks. It raises no TimelineError: `errors` has the codes."""
        import numpy

        asked = numpy.ascontiguousarray(ticks)
        if asked.size and asked.dtype.kind not in "iu":
            raise TypeError(f"ticks must be integers, not {asked.dtype}")
        if asked.dtype.kind == "i" and asked.size and asked.min() < 0:
            raise ValueError(f"ticks must be from 0 to {2**64 - 1}, not {asked.min()}")
        asked = asked.astype(numpy.uint64).ravel()
        fields = {
            "names": ["ticks", "mono_ns", "utc_ns", "maxerror_ns", "utc_maxerror_ns", "flags"],
            "formats": ["u8", "i8", "i8", "u8", "u8", "u4"],
        }
        c_type = ffi.typeof("struct timebase_instant")
        fields["offsets"] = [dict(c_type.fields)[name].offset for name in fields["names"]]
        fields["itemsize"] = ffi.sizeof(c_type)
        out = numpy.zeros(asked.size, numpy.dtype(fields))
        errors = numpy.zeros(asked.size, numpy.int32)
        check(
            lib.timebase_timeline_at_many(
                self._timeline,
                _checked_boot(boot),
                ffi.cast("uint64_t *", asked.ctypes.data),
                asked.size,
                ffi.cast("struct timebase_instant *", out.ctypes.data),
                ffi.cast("int32_t *", errors.ctypes.data),
            )
        )
        return Instants(asked, *(out[name] for name in fields["names"][1:]), errors)

    def ticks_at_utc(self, utc_ns: int, boot=None) -> int:
        """The first tick at which UTC was `utc_ns` or later."""
        target = checked_integer("utc_ns", utc_ns, -(2**63), 2**63 - 1)
        out = ffi.new("uint64_t *")
        result = lib.timebase_timeline_ticks_at_utc(
            self._timeline, _checked_boot(boot), target, out
        )
        if result < 0:
            raise TimelineError(f"UTC {target} ns: {self.explain(result)}", result)
        return out[0]

    @property
    def boots(self) -> list[Boot]:
        """The boots that the timeline holds, oldest first."""
        return [
            Boot(uuid.UUID(bytes=bytes(item.id)), *_rest(item, "id"))
            for item in self._list("boot", lib.timebase_timeline_boots)
        ]

    @property
    def gaps(self) -> list[Gap]:
        """Ranges of ticks within a boot that cannot be converted."""
        return [
            Gap(
                uuid.UUID(bytes=bytes(item.boot)),
                item.counter_id,
                Reason(item.reason),
                item.from_ticks,
                item.to_ticks,
                item.from_utc_ns,
                item.to_utc_ns,
            )
            for item in self._list("gap", lib.timebase_timeline_gaps)
        ]

    @property
    def damages(self) -> list[Damage]:
        """Ends of files that a crash has torn, and other bytes that are no record."""
        return [
            Damage(os.path.join(self.folder, f"{item.segment:08}.tbl"), item.offset, item.size)
            for item in self._list("damage", lib.timebase_timeline_damages)
        ]

    def explain(self, code: int, ticks: int | None = None, boot=None) -> str:
        """The reason in words. If `ticks` lies in a gap that was marked, the gap's own reason."""
        text = _text_of(code)
        if code == lib.TIMEBASE_E_GAP and ticks is not None:
            wanted = _checked_boot(boot)
            for gap in self.gaps:
                is_of_boot = wanted == ffi.NULL or gap.boot.bytes == wanted
                within = (ticks - gap.from_ticks) % 2**64 < (gap.to_ticks - gap.from_ticks) % 2**64
                if is_of_boot and within:
                    return f"{text}: {GAP_TEXTS[gap.reason.name]}"
            return f"{text}: records are damaged there"
        return text

    def _list(self, noun: str, function):
        """All items that there were at the first of the two calls. The writer may add some in
        between. TimebaseError if the folder can no longer be read."""
        count = self._checked(function(self._timeline, ffi.NULL, 0))
        items = ffi.new(f"struct timebase_timeline_{noun}[]", count)
        return list(items)[: min(count, self._checked(function(self._timeline, items, count)))]

    def _checked(self, result: int) -> int:
        if result < 0:
            raise TimebaseError(f"timeline {self.folder}: {_text_of(result)}", result)
        return result


def _text_of(code: int) -> str:
    """C's own text of this error is of pages."""
    if code == lib.TIMEBASE_E_FORMAT:
        return "not a timeline of this version (spec/timeline.md)"
    return text_of(code)


def _rest(item, but: str):
    """The members of a structure in their order, one left out."""
    return [getattr(item, name) for name, _ in ffi.typeof(item).fields if name != but]


GAP_TEXTS = {
    "KILLED": "the writer was killed, lines may be missing",
    "DISRUPTED": "the counter was disrupted",
    "ENDED": "the writer had ended",
    "LOST": "lines could not be written, the disk was full or failed",
    "UNREADABLE": "records are damaged, or a file is missing",
}
