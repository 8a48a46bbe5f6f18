# SPDX-License-Identifier: MIT
"""Takes the releases out of the dispatcher's log while it runs, and counts them by unit."""

from __future__ import annotations

from collections import Counter, deque

import numpy

from timebase.api.calendar import Calendar
from timebase.api.calendar_result import ReleaseBit
from timebase.api.library import ffi, lib
from timebase.api.wait_result import Disturbance
from timebase.run.action import Action
from timebase.run.cyclictest import WholeMicroseconds
from timebase.run.histogram import Histogram

ROOM = 8192  # entries taken at a time
MARKS_WAITING_MOST = 65_536
SLACK_NS = 2_000  # by one clock: a slew between a release and the mark within it, and rounding
RELEASE_TYPE = "struct timebase_release"
NUMPY_TYPES = {"uint32_t": "u4", "int32_t": "i4", "uint64_t": "u8", "int64_t": "i8", "float": "f4"}


def _layout() -> numpy.dtype:
    """The C structure as numpy has it."""
    fields = ffi.typeof(RELEASE_TYPE).fields
    return numpy.dtype(
        {
            "names": [name for name, _field in fields],
            "formats": [NUMPY_TYPES[field.type.cname] for _name, field in fields],
            "offsets": [field.offset for _name, field in fields],
            "itemsize": ffi.sizeof(RELEASE_TYPE),
        }
    )


class UnitRecord:
    """What is known of a unit's releases so far."""

    def __init__(self, action: Action, histogram_us: int | None = None):
        self.action = action
        self.whole_us = None if histogram_us is None else WholeMicroseconds(histogram_us)
        self.released = 0
        self.skipped = 0
        self.outcomes: Counter = Counter()
        self.disturbances: Counter = Counter()
        self.errors = Histogram()
        self.begins = Histogram() if action.marks is not None else None
        self.longest_ns = 0
        self.total_ns = 0
        self.first_target_ns: int | None = None
        self._waiting: deque = deque(maxlen=MARKS_WAITING_MOST)

    def add(self, releases) -> None:
        if self.first_target_ns is None:
            first = releases[0]
            period_ns = self.action.unit.period_ns
            self.first_target_ns = int(first["target_ns"]) - int(first["number"]) * period_ns
        is_run = (releases["outcome"] & lib.TIMEBASE_RELEASE_SKIPPED) == 0
        self.skipped += int(releases["count"][~is_run].sum())
        self._add_run(releases[is_run])

    def _add_run(self, releases) -> None:
        if not len(releases):
            return
        self.released += len(releases)
        self.errors.add(releases["error_ns"])
        if self.whole_us is not None:
            self.whole_us.add(releases["error_ns"])
        _count_bits(self.outcomes, releases["outcome"], ReleaseBit)
        _count_bits(self.disturbances, releases["disturbance"], Disturbance)
        begin_ns = releases["target_ns"] + numpy.rint(releases["error_ns"]).astype(numpy.int64)
        ran_ns = releases["end_ns"] - begin_ns
        self.longest_ns = max(self.longest_ns, int(ran_ns.max()))
        self.total_ns += int(ran_ns.sum())
        if self.begins is not None:
            columns = (begin_ns, releases["end_ns"], releases["target_ns"])
            self._waiting.extend(zip(*(column.tolist() for column in columns)))

    def join(self) -> None:
        """Joins releases and marks; both are in the order of time. A release without a mark, after
        a failed start, or a mark without a release, after a full log, is dropped."""
        marks, found = self.action.marks, []
        while marks and self._waiting:
            begin_ns, end_ns, target_ns = self._waiting[0]
            inside_ns, mark_ns = marks[0]
            if inside_ns < begin_ns - SLACK_NS:
                marks.popleft()
            elif inside_ns > end_ns + SLACK_NS:
                self._waiting.popleft()
            else:
                marks.popleft()
                self._waiting.popleft()
                found.append(mark_ns - target_ns)
        self.begins.add(found)


def _count_bits(counts: Counter, column, bits) -> None:
    for bit in bits:
        count = int(numpy.count_nonzero(column & int(bit)))
        if count:
            counts[bit.name] += count


class Recorder:
    def __init__(self, calendar: Calendar, actions: list[Action], histogram_us: int | None = None):
        self.calendar = calendar
        self.units = [UnitRecord(action, histogram_us) for action in actions]
        self._room = ffi.new(f"{RELEASE_TYPE}[]", ROOM)
        self._view = numpy.frombuffer(ffi.buffer(self._room), _layout())

    def drain(self) -> None:
        """Take all there is. By one thread."""
        count = ROOM
        while count == ROOM:
            count = self.calendar.take_into(self._room, ROOM)
            releases = self._view[:count]
            for number in numpy.unique(releases["unit"]):
                self.units[number].add(releases[releases["unit"] == number])
        for record in self.units:
            if record.begins is not None:
                record.join()

    @property
    def lost(self) -> int:
        return self.calendar.lost
