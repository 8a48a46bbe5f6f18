# SPDX-License-Identifier: MIT
"""What the kernel does to real-time threads that never sleep."""

from __future__ import annotations

from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.realtime.kernel import Kernel
from timebase.doctor.tree import Tree


@dataclass(frozen=True)
class Throttling:
    runtime_us: int | None  # -1: no limit
    period_us: int | None
    groups: bool | None  # RT_GROUP_SCHED: each control group has a share of its own
    # Since Linux 6.12 a server for starving ordinary threads takes the place of the limit,
    # except with RT_GROUP_SCHED. None: which of the two is at work is not known.
    by_server: bool | None
    server_runtime_ns: int | None  # 0: switched off


def read(tree: Tree, kernel: Kernel, cpu: int) -> Throttling:
    groups = kernel.option("RT_GROUP_SCHED")
    server_runtime = tree.number(f"/sys/kernel/debug/sched/fair_server/cpu{cpu}/runtime")
    return Throttling(
        runtime_us=tree.number("/proc/sys/kernel/sched_rt_runtime_us"),
        period_us=tree.number("/proc/sys/kernel/sched_rt_period_us"),
        groups=None if groups is None else groups == "y",
        by_server=_by_server(kernel.at_least(6, 12), groups),
        server_runtime_ns=server_runtime,
    )


def _by_server(recent: bool | None, groups: str | None) -> bool | None:
    if recent is False or groups == "y":
        return False
    return None if recent is None or groups is None else True


def judge(throttling: Throttling, cpu: int) -> Findings:
    runtime, period = throttling.runtime_us, throttling.period_us
    if throttling.by_server and throttling.server_runtime_ns == 0:
        yield Finding("throttling", "ok", "The server for starving threads is switched off.")
    elif throttling.by_server:
        yield _served(cpu)
    elif runtime is None or period is None:
        yield Finding(
            "throttling",
            "info",
            "Whether real-time threads are throttled is unknown: "
            "/proc/sys/kernel/sched_rt_runtime_us cannot be read.",
        )
    elif runtime < 0 or runtime >= period:
        yield Finding("throttling", "ok", "Real-time threads are not throttled.")
    else:
        yield _throttled(runtime, period)


def _throttled(runtime_us: int, period_us: int) -> Finding:
    pause_ms, period_ms = (period_us - runtime_us) / 1000, period_us / 1000
    return Finding(
        "throttling",
        "warning",
        f"A real-time thread that polls without end stands still for {pause_ms:g} ms of every "
        f"{period_ms:g} ms (sched_rt_runtime_us).",
        "Sleep between waits, as TIMEBASE_WAIT_SLEEP does. Or write -1 to "
        "/proc/sys/kernel/sched_rt_runtime_us; a real-time thread that hangs then keeps its CPU.",
    )


def _served(cpu: int) -> Finding:
    return Finding(
        "throttling",
        "warning",
        "A real-time thread that polls without end is held up where ordinary threads starve on its "
        "CPU, by default for 50 ms of every second (the kernel's fair server).",
        "Sleep between waits, as TIMEBASE_WAIT_SLEEP does, or isolate the CPU. Or write 0 to "
        f"/sys/kernel/debug/sched/fair_server/cpu{cpu}/runtime.",
    )
