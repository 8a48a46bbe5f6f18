# SPDX-License-Identifier: MIT
"""All questions together."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields

from timebase.api.counter import Counter
from timebase.bench.placement import may_run_on, quiet_cpu
from timebase.doctor.finding import SEVERITIES, Finding
from timebase.doctor.realtime import (
    firmware,
    frequency,
    idle,
    instructions,
    interrupts,
    isolation,
    kernel,
    measured,
    memory,
    neighbour,
    permissions,
    preemption,
    siblings,
    throttling,
    tick,
    virtual,
)
from timebase.doctor.tree import Tree


@dataclass(frozen=True)
class Facts:
    cpu: int
    tick: tick.Tick
    isolation: isolation.Isolation
    preemption: preemption.Preemption
    throttling: throttling.Throttling
    idle: idle.Idle
    frequency: frequency.Frequency
    siblings: siblings.Siblings
    interrupts: interrupts.Interrupts
    firmware: firmware.Firmware
    permissions: permissions.Permissions
    memory: memory.Memory
    virtual: virtual.Virtual
    instructions: instructions.Instructions
    measured: measured.Measured
    neighbour: neighbour.Neighbour


@dataclass(frozen=True)
class Asked:
    """What no file tells: asked of the system, or measured."""

    machine: str  # as `uname -m`
    coarse_ns: int | None
    policy: str
    fifo_refused: str | None
    smis_before: int | None
    measured: measured.Measured
    neighbour: neighbour.Neighbour


def examine(counter: Counter, cpu: int | None = None) -> dict:
    """What `doctor --json` prints as "realtime". Takes some 0.5 s, nearly all of it measuring."""
    facts = gather(counter, cpu)
    document = {each.name: getattr(facts, each.name) for each in fields(facts)}
    return {
        "cpu": document.pop("cpu"),
        **{name: asdict(group) for name, group in document.items()},
        "findings": [asdict(finding) for finding in judge(facts)],
    }


def choose_cpu(tree: Tree) -> int:
    """The last isolated CPU, which is there for such work; else the last of all."""
    isolated = isolation.read(tree, kernel.read(tree)).cpus or ()
    return next((cpu for cpu in reversed(isolated) if may_run_on(cpu)), quiet_cpu())


def gather(counter: Counter, cpu: int | None = None) -> Facts:
    """The facts of this machine; cpu None: the one that seems meant for punctual work."""
    tree = Tree()
    cpu = choose_cpu(tree) if cpu is None else cpu
    return look(tree, counter, cpu, ask(tree, counter, cpu))


def ask(tree: Tree, counter: Counter, cpu: int) -> Asked:
    return Asked(
        machine=platform.machine(),
        coarse_ns=tick.coarse_resolution_ns(),
        policy=permissions.policy_name(os.sched_getscheduler(0)),
        fifo_refused=permissions.ask_for_fifo(),
        smis_before=firmware.smi_count(tree, cpu),
        measured=measured.measure(cpu, counter.frequency_hz, lambda: interrupts.counts(tree, cpu)),
        neighbour=neighbour.measure(cpu),
    )


def look(tree: Tree, counter: Counter, cpu: int, asked: Asked) -> Facts:
    """All that files tell, with what was asked."""
    built = kernel.read(tree)
    smis_after = firmware.smi_count(tree, cpu)
    return Facts(
        cpu=cpu,
        tick=tick.read(tree, built, asked.coarse_ns),
        isolation=isolation.read(tree, built),
        preemption=preemption.read(tree, built),
        throttling=throttling.read(tree, built, cpu),
        idle=idle.read(tree, built, cpu),
        frequency=frequency.read(tree, cpu),
        siblings=siblings.read(tree, cpu),
        interrupts=interrupts.read(tree, cpu),
        firmware=firmware.read(built, asked.smis_before, smis_after),
        permissions=permissions.read(tree, asked.policy, asked.fifo_refused),
        memory=memory.read(tree),
        virtual=virtual.read(tree, cpu, counter.hypervisor),
        instructions=instructions.read(tree, counter, asked.machine),
        measured=asked.measured,
        neighbour=asked.neighbour,
    )


def judge(facts: Facts) -> list[Finding]:
    """All findings, worst first."""
    return sorted(_all(facts), key=lambda finding: SEVERITIES.index(finding.severity))


def _all(facts: Facts) -> Iterator[Finding]:
    cpu = facts.cpu
    yield from measured.judge(facts.measured, cpu)
    yield from tick.judge(facts.tick, cpu)
    yield from isolation.judge(facts.isolation, cpu)
    yield from interrupts.judge(facts.interrupts, cpu)
    yield from permissions.judge(facts.permissions)
    yield from throttling.judge(facts.throttling, cpu)
    yield from preemption.judge(facts.preemption)
    yield from idle.judge(facts.idle, cpu)
    yield from frequency.judge(facts.frequency, cpu)
    yield from siblings.judge(facts.siblings, cpu)
    yield from neighbour.judge(facts.neighbour, cpu)
    yield from memory.judge(facts.memory)
    yield from firmware.judge(facts.firmware, cpu)
    yield from virtual.judge(facts.virtual, cpu)
    yield from instructions.judge(facts.instructions)
