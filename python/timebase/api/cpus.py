# SPDX-License-Identifier: MIT
"""How far the counters of CPUs are apart. See include/timebase/cpus.h."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from timebase.api.library import check, ffi, lib

__all__ = ["Cpu", "Cpus", "open_cpus"]

NOT_KNOWN = 2**64 - 1
PREFIX = "TIMEBASE_CPU_"


@dataclass(frozen=True)
class Cpu:
    """One CPU's counter. But for number and state all is None unless it is `measured`."""

    cpu: int
    state: str  # measured, unknown, hidden, offline, inconsistent
    against: int | None  # the CPU that it was compared with
    offset_ticks: int | None  # counter there - the reference CPU's, estimated
    error_ticks: int | None  # certainly wrong by no more
    drift_ppb: int | None  # what the offset grows by; None before the second measurement
    drift_error_ppb: int | None
    jumps: int  # so often it was set, or stood still, between two measurements
    measured_ns: int | None  # when, by CLOCK_MONOTONIC


class Cpus:
    """A comparison of all CPUs, made by measure(); each further one tells more of the drift."""

    def __init__(self, handle):
        self._handle = handle

    def measure(self) -> tuple[Cpu, ...]:
        """Once more: a millisecond a CPU, up to 10 where it is busy."""
        check(lib.timebase_cpus_measure(self._handle))
        return self.list()

    def list(self) -> tuple[Cpu, ...]:
        """All CPUs that there are, online or not, by their numbers."""
        count = lib.timebase_cpus_list(self._handle, ffi.NULL, 0)
        found = ffi.new("struct timebase_cpu[]", count)
        lib.timebase_cpus_list(self._handle, found, count)
        return tuple(_cpu(one) for one in found)


@contextmanager
def open_cpus() -> Iterator[Cpus]:
    out = ffi.new("timebase_cpus **")
    check(lib.timebase_cpus_open(out))
    try:
        yield Cpus(out[0])
    finally:
        lib.timebase_cpus_close(out[0])


def _state_names() -> dict[int, str]:
    named = ffi.typeof("enum timebase_cpu_state").relements
    return {value: name[len(PREFIX) :].lower() for name, value in named.items()}


def _cpu(found) -> Cpu:
    state = _state_names()[found.state]
    if state != "measured":
        return Cpu(found.cpu, state, None, None, None, None, None, found.jumps, None)
    is_drift_known = found.drift_error_ppb != NOT_KNOWN
    return Cpu(
        cpu=found.cpu,
        state=state,
        against=found.against,
        offset_ticks=found.offset_ticks,
        error_ticks=found.error_ticks,
        drift_ppb=found.drift_ppb if is_drift_known else None,
        drift_error_ppb=found.drift_error_ppb if is_drift_known else None,
        jumps=found.jumps,
        measured_ns=found.measured_ns,
    )
