# SPDX-License-Identifier: MIT
"""Ask the kernel for what punctual threads need. See include/timebase/realtime.h.

    with Realtime(cpu=1) as realtime:
        for refusal in realtime.refused:
            print(f"no {refusal.name}: {refusal.reason}. {refusal.advice}")
        ...

If the kernel refuses one setting, the others are granted all the same. The end of the block gives
back what was granted. The settings are of the thread that enters the block; the same thread must
leave it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import IntFlag

from timebase.api.library import check, ffi, lib
from timebase.api.numbers import checked_integer

PREFIX = "TIMEBASE_REALTIME_"
_NO_BITS = {"LAST", "ALL", "COUNT"}
_MEMBERS = ffi.typeof("enum timebase_realtime_bit").relements
_BITS = {
    name[len(PREFIX) :]: value
    for name, value in sorted(_MEMBERS.items(), key=lambda item: item[1])
    if name[len(PREFIX) :] not in _NO_BITS
}

RealtimeBit = IntFlag("RealtimeBit", _BITS)
EVERYTHING = RealtimeBit(lib.TIMEBASE_REALTIME_ALL)
CPUS_MOST = 8192
DEFAULT_PRIORITY = 50


@dataclass(frozen=True)
class Refusal:
    """A setting that the kernel did not grant, the reason, and what a person can do about it."""

    bit: RealtimeBit
    name: str
    reason: str
    advice: str


def name_of(bit: int) -> str:
    """A bit in words: "SCHED_FIFO"."""
    return ffi.string(lib.timebase_realtime_name(bit)).decode()


class Realtime:
    """A context manager. `cpu` None means the CPU that the thread is on. `priority` is that of
    SCHED_FIFO, 1 to 99. `wanted` is any of RealtimeBit, all by default. ValueError if an argument
    is out of range."""

    def __init__(
        self, cpu: int | None = None, priority: int = DEFAULT_PRIORITY, wanted: int = EVERYTHING
    ):
        self._request = ffi.new("struct timebase_realtime_request *")
        self._request.cpu = -1 if cpu is None else checked_integer("cpu", cpu, 0, CPUS_MOST - 1)
        self._request.priority = checked_integer("priority", priority, 1, 99)
        self._request.wanted = checked_integer("wanted", wanted, 0, int(EVERYTHING))
        self._realtime = ffi.new("struct timebase_realtime *")

    def __enter__(self):
        self.acquire()
        return self

    def __exit__(self, *_exception) -> None:
        self.release()

    def acquire(self) -> None:
        """Asks for the settings, as entering the block does."""
        if self._realtime.granted:
            raise RuntimeError("this Realtime has been acquired: release it first")
        check(lib.timebase_realtime_acquire(self._realtime, self._request))

    def release(self) -> None:
        """Gives them back, as leaving the block does. May be called again. TimebaseError if the
        kernel refuses."""
        check(lib.timebase_realtime_release(self._realtime))

    @property
    def granted(self) -> RealtimeBit:
        """What has been granted and not yet given back."""
        return RealtimeBit(self._realtime.granted)

    @property
    def cpu(self) -> int | None:
        """The CPU that the thread is pinned to."""
        return None if self._realtime.cpu < 0 else self._realtime.cpu

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """What was not granted; empty if all was."""
        return tuple(self._refusals())

    def _refusals(self):
        for bit in RealtimeBit:
            if self._realtime.refused & bit:
                number = int(bit).bit_length() - 1
                reason = os.strerror(self._realtime.reason_errno[number])
                advice = ffi.string(lib.timebase_realtime_advice(bit)).decode()
                yield Refusal(bit, name_of(bit), reason, advice)
