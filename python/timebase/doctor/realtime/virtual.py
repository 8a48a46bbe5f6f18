# SPDX-License-Identifier: MIT
"""What a hypervisor takes away."""

from __future__ import annotations

from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.tree import Tree

STEAL = 7  # which number of a cpu line of /proc/stat, see proc(5)
GUEST = 8  # from here on the numbers are part of earlier ones
NOTICEABLE = 1e-3


@dataclass(frozen=True)
class Virtual:
    hypervisor: bool | None
    steal_share: float | None  # of the CPU's time since boot


def read(tree: Tree, cpu: int, hypervisor: bool | None) -> Virtual:
    for line in (tree.text("/proc/stat") or "").splitlines():
        words = line.split()
        if words and words[0] == f"cpu{cpu}" and len(words) > 1 + STEAL:
            numbers = [int(word) for word in words[1:]]
            total = sum(numbers[:GUEST])
            return Virtual(hypervisor, numbers[STEAL] / total if total else None)
    return Virtual(hypervisor, None)


def judge(virtual: Virtual, cpu: int) -> Findings:
    if virtual.hypervisor is False:
        return
    if virtual.steal_share is None:
        yield Finding("steal", "info", f"How much of CPU {cpu} a hypervisor takes is unknown.")
        return
    text = f"The hypervisor says that it took {virtual.steal_share:.3%} of CPU {cpu} since boot."
    if virtual.steal_share >= NOTICEABLE:
        yield Finding(
            "steal",
            "warning",
            text,
            "Ask for virtual CPUs that are pinned to processors of their own.",
        )
    elif virtual.hypervisor:
        yield Finding(
            "steal",
            "info",
            f"{text} The hypervisor need not report all of it; polling sees all.",
        )
