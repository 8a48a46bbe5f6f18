# SPDX-License-Identifier: MIT
"""Is the kernel's own reading of a clock dear here, and may the counter stand in for it?"""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass
from typing import Callable

from timebase.api.counter import Counter, probe

# More than a coarse clock, which needs no counter: by the processor's counter it is some 20 ns, by
# a system call 100 and more, by HPET or ACPI timer a microsecond.
DEAR_NS = 80
# And so many times as long as a coarse one: below that the library asks the kernel itself, and would
# only add a call to each reading (DEAR in src/preload/followed.c). A slow machine's are all long.
DEAR_TIMES = 4
READINGS = 3000
MONOTONIC_COARSE = 6  # of Linux; Python has no name for it
NEVER_STOPS = ("invariant", "non-stop")
X86_COUNTER = "TSC"


@dataclass(frozen=True)
class Clocks:
    clocksource: str | None
    kernel_ns: int  # what a reading of CLOCK_MONOTONIC takes more than a coarse one,
    coarse_ns: int  # and what that takes
    counter: str
    may_stop: bool  # in idle, and nobody would know
    is_readable: bool

    @property
    def is_dear(self) -> bool:
        return self.kernel_ns >= max(DEAR_NS, (DEAR_TIMES - 1) * self.coarse_ns)


def look() -> Clocks:
    coarse_ns = _least_ns(time.clock_gettime_ns, MONOTONIC_COARSE)
    return judge(
        probe(),
        kernel_ns=max(0, _least_ns(time.clock_gettime_ns, time.CLOCK_MONOTONIC) - coarse_ns),
        coarse_ns=max(0, coarse_ns - _least_ns(operator.index, MONOTONIC_COARSE)),
    )


def judge(counter: Counter, kernel_ns: int, coarse_ns: int) -> Clocks:
    return Clocks(
        clocksource=counter.kernel_clocksource,
        kernel_ns=kernel_ns,
        coarse_ns=coarse_ns,
        counter=counter.name,
        may_stop=counter.counter_class not in NEVER_STOPS and not counter.hypervisor,
        is_readable=counter.name == X86_COUNTER,
    )


def _least_ns(call: Callable[[int], int], clock: int) -> int:
    """With what the interpreter takes, and one reading by which this is measured."""
    least = 1 << 62
    for _ in range(READINGS):
        begin = time.perf_counter_ns()
        call(clock)
        least = min(least, time.perf_counter_ns() - begin)
    return least
