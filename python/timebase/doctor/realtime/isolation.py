# SPDX-License-Identifier: MIT
"""Whether the scheduler keeps other threads away from the CPU."""

from __future__ import annotations

from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.realtime import cpulist
from timebase.doctor.realtime.kernel import Kernel
from timebase.doctor.tree import Tree


@dataclass(frozen=True)
class Isolation:
    by_kernel: tuple[int, ...] | None  # isolcpus=
    by_cpuset: tuple[int, ...] | None  # isolated partitions of control groups; None: not known
    parameters: tuple[str, ...]

    @property
    def cpus(self) -> tuple[int, ...] | None:
        """None: neither list could be read."""
        if self.by_kernel is None and self.by_cpuset is None:
            return None
        return tuple(sorted({*(self.by_kernel or ()), *(self.by_cpuset or ())}))


def read(tree: Tree, kernel: Kernel) -> Isolation:
    return Isolation(
        by_kernel=cpulist.parse(tree.text("/sys/devices/system/cpu/isolated")),
        by_cpuset=cpulist.parse(tree.text("/sys/fs/cgroup/cpuset.cpus.isolated")),
        parameters=kernel.parameter("isolcpus", "irqaffinity", "housekeeping"),
    )


def judge(isolation: Isolation, cpu: int) -> Findings:
    cpus = isolation.cpus
    if cpus is None:
        yield Finding(
            "isolation",
            "info",
            f"Whether CPU {cpu} is isolated is unknown: /sys/devices/system/cpu/isolated cannot "
            "be read.",
        )
    elif cpu in cpus:
        yield Finding("isolation", "ok", f"CPU {cpu} is isolated from other threads.")
    else:
        yield Finding(
            "isolation",
            "warning",
            f"CPU {cpu} is not isolated: the scheduler puts other threads there too "
            f"(isolated: {cpulist.show(cpus)}).",
            f"Start the kernel with isolcpus=domain,managed_irq,{cpu}, or make an isolated "
            "cpuset; until then a real-time priority keeps ordinary threads waiting.",
        )
