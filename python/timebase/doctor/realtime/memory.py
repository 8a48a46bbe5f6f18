# SPDX-License-Identifier: MIT
"""What the kernel does with a program's memory unasked. Each of it causes a page fault later."""

from __future__ import annotations

import re
from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.tree import Tree


@dataclass(frozen=True)
class Memory:
    huge_pages: str | None  # always, madvise, never
    merging: bool | None  # KSM
    balancing: int | None  # NUMA balancing: 0 is off
    nodes: int | None


def read(tree: Tree) -> Memory:
    chosen = re.search(r"\[(\w+)\]", tree.text("/sys/kernel/mm/transparent_hugepage/enabled") or "")
    merging = tree.number("/sys/kernel/mm/ksm/run")
    return Memory(
        huge_pages=chosen[1] if chosen else None,
        merging=None if merging is None else merging == 1,
        balancing=tree.number("/proc/sys/kernel/numa_balancing"),
        nodes=len(tree.names("/sys/devices/system/node/node[0-9]*")) or None,
    )


def judge(memory: Memory) -> Findings:
    yield _huge_pages(memory.huge_pages)
    yield _merging(memory.merging)
    yield _balancing(memory)


def _huge_pages(mode: str | None) -> Finding:
    if mode is None:
        return Finding("huge-pages", "info", "Whether transparent huge pages are on is unknown.")
    if mode == "always":
        return Finding(
            "huge-pages",
            "info",
            "Transparent huge pages are always on: the kernel may join pages of a running program, "
            "and stop it meanwhile.",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        )
    return Finding("huge-pages", "ok", f"Transparent huge pages: {mode}.")


def _merging(merging: bool | None) -> Finding:
    if merging is None:
        return Finding("page-merging", "info", "Whether equal pages are merged (KSM) is unknown.")
    if merging:
        return Finding(
            "page-merging",
            "info",
            "Equal pages of willing programs are merged (KSM): writing to one then faults.",
            "echo 2 > /sys/kernel/mm/ksm/run",
        )
    return Finding("page-merging", "ok", "Pages are not merged (KSM).")


def _balancing(memory: Memory) -> Finding:
    if memory.balancing is None:
        return Finding("numa-balancing", "info", "Whether the kernel balances memory is unknown.")
    if memory.balancing and memory.nodes != 1:
        return Finding(
            "numa-balancing",
            "warning",
            "The kernel balances memory between NUMA nodes: it makes pages fault on purpose, locked "
            "ones too.",
            "echo 0 > /proc/sys/kernel/numa_balancing",
        )
    return Finding("numa-balancing", "ok", "Memory is not moved between NUMA nodes.")
