# SPDX-License-Identifier: MIT
"""Which devices may interrupt the CPU, and how often something has."""

from __future__ import annotations

from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.realtime import cpulist
from timebase.doctor.tree import Tree

FEW = 3  # names in a sentence


@dataclass(frozen=True)
class Interrupts:
    known: int | None  # device interrupts whose affinity could be read; None: none could
    here: tuple[str, ...]  # numbers of those that may be delivered to the CPU
    balanced: bool | None  # irqbalance runs, and moves them; None: processes are not visible
    since_boot: dict | None  # by the kernel's label, on this CPU


def read(tree: Tree, cpu: int) -> Interrupts:
    allowed = {}
    for name in tree.names("/proc/irq/[0-9]*/smp_affinity_list"):
        cpus = cpulist.parse(tree.text(name))
        if cpus is not None:
            allowed[name.split("/")[3]] = cpus
    return Interrupts(
        known=len(allowed) or None,
        here=tuple(sorted((irq for irq, cpus in allowed.items() if cpu in cpus), key=int)),
        balanced=_is_running(tree, "irqbalance"),
        since_boot=counts(tree, cpu),
    )


def _is_running(tree: Tree, program: str) -> bool | None:
    names = [tree.text(name) for name in tree.names("/proc/[0-9]*/comm")]
    return program in names if names else None


def counts(tree: Tree, cpu: int) -> dict | None:
    """{"LOC": 1234, "36": 5}: interrupts of this CPU since boot, without those that never came."""
    lines = (tree.text("/proc/interrupts") or "").splitlines()
    column = f"CPU{cpu}"
    if not lines or column not in lines[0].split():
        return None
    place = lines[0].split().index(column)
    found = {}
    for line in lines[1:]:
        label, _, rest = line.partition(":")
        numbers = rest.split()
        if place < len(numbers) and numbers[place].isdigit() and int(numbers[place]):
            found[label.strip()] = int(numbers[place])
    return found


def judge(interrupts: Interrupts, cpu: int) -> Findings:
    yield _devices(interrupts, cpu)
    if interrupts.balanced:
        yield Finding(
            "irqbalance",
            "warning",
            "irqbalance is running: it moves interrupts from CPU to CPU.",
            f"Keep it away: IRQBALANCE_BANNED_CPULIST={cpu} in /etc/default/irqbalance, or "
            "systemctl disable --now irqbalance.",
        )
    elif interrupts.balanced is None:
        yield Finding("irqbalance", "info", "Whether irqbalance is running is unknown.")


def _devices(interrupts: Interrupts, cpu: int) -> Finding:
    known, here = interrupts.known, interrupts.here
    if known is None:
        return Finding(
            "interrupts",
            "info",
            f"Which devices may interrupt CPU {cpu} is unknown: /proc/irq cannot be read.",
        )
    if not here:
        return Finding(
            "interrupts", "ok", f"No device may interrupt CPU {cpu} ({known} looked at)."
        )
    some = ", ".join(here[:FEW]) + (", …" if len(here) > FEW else "")
    return Finding(
        "interrupts",
        "warning",
        f"{len(here)} of {known} devices may interrupt CPU {cpu} (IRQ {some}).",
        "Write the other CPUs to /proc/irq/NUMBER/smp_affinity_list, or start the kernel with "
        "irqaffinity= naming them.",
    )
