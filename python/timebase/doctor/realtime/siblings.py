# SPDX-License-Identifier: MIT
"""Whether the CPU shares its core with another one."""

from __future__ import annotations

from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.realtime import cpulist
from timebase.doctor.tree import Tree


@dataclass(frozen=True)
class Siblings:
    active: bool | None  # simultaneous multithreading, anywhere in the machine
    control: str | None  # on, off, forceoff, notsupported, notimplemented
    cpus: tuple[int, ...] | None  # those that share the CPU's core, itself included


def read(tree: Tree, cpu: int) -> Siblings:
    active = tree.number("/sys/devices/system/cpu/smt/active")
    folder = f"/sys/devices/system/cpu/cpu{cpu}/topology"
    shared = tree.text(f"{folder}/core_cpus_list") or tree.text(f"{folder}/thread_siblings_list")
    return Siblings(
        active=None if active is None else bool(active),
        control=tree.text("/sys/devices/system/cpu/smt/control"),
        cpus=cpulist.parse(shared),
    )


def judge(siblings: Siblings, cpu: int) -> Findings:
    if siblings.cpus is None:
        yield Finding(
            "siblings", "info", f"Whether CPU {cpu} shares its core with another is unknown."
        )
        return
    others = tuple(other for other in siblings.cpus if other != cpu)
    if others:
        yield Finding(
            "siblings",
            "warning",
            f"CPU {cpu} shares its core with CPU {cpulist.show(others)}: what runs there changes "
            "the time that instructions take here.",
            "Leave it idle: echo 0 > "
            f"/sys/devices/system/cpu/cpu{others[0]}/online, or echo off > "
            "/sys/devices/system/cpu/smt/control.",
        )
    else:
        yield Finding(
            "siblings", "ok", f"CPU {cpu} has its core for itself, as the kernel sees it."
        )
