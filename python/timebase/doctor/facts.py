# SPDX-License-Identifier: MIT
"""What doctor looks at. No judgement here."""

from __future__ import annotations

import os
from dataclasses import dataclass

from timebase.api.clock import Status, default_clock
from timebase.api.counter import Counter, probe
from timebase.api.library import COUNTER_VARIABLE, check, ffi, lib
from timebase.api.machine import describe
from timebase.bench.cost import row_names
from timebase.bench.placement import allowed_cpus
from timebase.bench.timers import witnesses
from timebase.doctor.kernel import clock_messages, clock_parameters
from timebase.doctor.ntp import NtpState, read_ntp
from timebase.status.namespace import TimeNamespace, read_time_namespace

CALLS = ("clock_gettime_monotonic", "clock_gettime_syscall", "utc")
BATCHES, CALLS_PER_BATCH = 15, 200
TIMERS_SEC = 0.2  # enough for some ppm, with reads of a microsecond


@dataclass(frozen=True)
class Facts:
    counter: Counter
    clock: dict
    machine: dict
    ntp: NtpState | None
    time_namespace: TimeNamespace | None
    calls: dict  # ns per call, by the names of the bench
    allowed_cpus: int
    online_cpus: int | None
    proc_readable: bool
    sys_readable: bool
    clock_parameters: list
    clock_messages: list | None  # None: the kernel's log may not be read
    counter_variable: str | None
    timers: list  # rows as of `bench --references`: HPET, ACPI timer, and the kernel if one is


def gather() -> Facts:
    counter = probe()
    return Facts(
        counter=counter,
        clock=_clock(),
        machine=describe(counter),
        ntp=read_ntp(),
        time_namespace=read_time_namespace(),
        calls=_calls(counter.frequency_hz),
        allowed_cpus=len(allowed_cpus()),
        online_cpus=os.cpu_count(),
        proc_readable=os.access("/proc/self", os.R_OK),
        sys_readable=os.access("/sys/devices/system", os.R_OK),
        clock_parameters=clock_parameters(),
        clock_messages=clock_messages(),
        counter_variable=os.environ.get(COUNTER_VARIABLE),
        timers=witnesses(TIMERS_SEC),
    )


def _clock() -> dict:
    """The clock's statistics, with its status and the bounds of this moment."""
    clock = default_clock()
    now = clock.now()
    return {
        **clock.statistics(),
        "status": Status(now.status).name,
        "esterror_ns": now.esterror_ns,
        "maxerror_ns": now.maxerror_ns,
        "utc_maxerror_ns": now.utc_maxerror_ns,
        "tai_offset_sec": now.tai_offset_sec,
    }


def _calls(frequency_hz: int) -> dict:
    """The least of some short batches each: enough to tell a system call from a vDSO."""
    check(lib.timebase_bench_prepare())
    rows = {name: row for row, name in enumerate(row_names()) if name in CALLS}
    best = dict.fromkeys(CALLS, float("inf"))
    for _ in range(BATCHES):
        for name, row in rows.items():
            ticks = lib.timebase_bench_batch(row, ffi.new("uint64_t *", CALLS_PER_BATCH))
            best[name] = min(best[name], ticks / CALLS_PER_BATCH * 1e9 / frequency_hz)
    return best
