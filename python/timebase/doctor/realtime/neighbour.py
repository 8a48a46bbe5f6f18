# SPDX-License-Identifier: MIT
"""Whether somebody else is busy on the CPU's core, as the throughput of additions tells: another
virtual machine's thread is in no file of this one."""

from __future__ import annotations

from dataclasses import dataclass

from timebase.api.errors import TimebaseError
from timebase.bench.core import look
from timebase.bench.neighbour import additions, has_stepped, is_busy, quiet_level
from timebase.bench.placement import pinned
from timebase.doctor.finding import Finding, Findings

LOOKS = 2000  # some 40 ms
WORTH_A_WARNING = 0.05
FEW = 3.0  # a core that is alone adds more often in a cycle, on all that were measured


@dataclass(frozen=True)
class Neighbour:
    """None: could not be measured."""

    looks: int
    additions_per_cycle: float | None  # of the core when it was quiet
    busy_share: float | None
    clock_steps: int | None  # between one look and the next


def measure(cpu: int) -> Neighbour:
    try:
        with pinned(cpu):
            return of_looks([look()[:2] for _ in range(LOOKS)])
    except (OSError, TimebaseError):
        return Neighbour(0, None, None, None)


def of_looks(looks: list[tuple[float, float]]) -> Neighbour:
    found = [value for value in (additions(*one) for one in looks) if value is not None]
    if not found:
        return Neighbour(len(looks), None, None, None)
    quiet = quiet_level(found)
    cycles = [cycle for cycle, _ in looks]
    return Neighbour(
        looks=len(looks),
        additions_per_cycle=round(quiet, 2),
        busy_share=sum(is_busy(value, quiet) for value in found) / len(found),
        clock_steps=sum(map(has_stepped, cycles, cycles[1:])),
    )


def judge(found: Neighbour, cpu: int) -> Findings:
    if found.busy_share is None:
        yield Finding(
            "neighbour", "info", f"Whether CPU {cpu}'s core is shared could not be measured."
        )
        return
    seen = f"in {found.busy_share:.1%} of {found.looks:,} looks"
    if found.busy_share >= WORTH_A_WARNING:
        yield Finding(
            "neighbour",
            "warning",
            f"Another thread was busy on CPU {cpu}'s core {seen}, perhaps one of another machine on "
            "the same host: instructions then take other times than before.",
            "Exact waits are good to some 10 ns there. Keep the core's other CPU idle (see "
            "siblings); in a virtual machine, hire whole cores.",
        )
    elif found.additions_per_cycle < FEW:
        yield Finding(
            "neighbour",
            "info",
            f"CPU {cpu}'s core makes {found.additions_per_cycle} additions in a cycle at best: either "
            "it is a narrow one, or another thread was busy on it all the time.",
        )
    else:
        yield Finding(
            "neighbour",
            "ok",
            f"Nobody else was busy on CPU {cpu}'s core, but {seen}; its clock changed "
            f"{found.clock_steps} times meanwhile.",
        )
