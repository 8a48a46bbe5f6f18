# SPDX-License-Identifier: MIT
"""What this process may ask the kernel for."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.tree import Tree

CAP_IPC_LOCK, CAP_SYS_NICE = 14, 23  # linux/capability.h
ENOUGH_LOCKED = 64 << 20  # bytes: a small program with all its libraries
UNLIMITED = -1


@dataclass(frozen=True)
class Permissions:
    policy: str | None  # of this process now: SCHED_OTHER, SCHED_FIFO, ...
    fifo_refused: str | None  # what the kernel said when asked for SCHED_FIFO; None: granted
    may_nice: bool | None  # CAP_SYS_NICE
    may_lock: bool | None  # CAP_IPC_LOCK
    rtprio_limit: int | None
    memlock_limit: int | None  # bytes; UNLIMITED
    timer_slack_ns: int | None


def ask_for_fifo() -> str | None:
    """Asks for SCHED_FIFO and gives it back; what the kernel said if it refused."""
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    if policy not in (os.SCHED_OTHER, os.SCHED_BATCH, os.SCHED_IDLE):
        return None  # it has one, of some class
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError as refused:
        return os.strerror(refused.errno)
    os.sched_setscheduler(0, policy, parameter)
    return None


def policy_name(policy: int) -> str:
    names = ("SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH", "SCHED_IDLE")
    by_number = {getattr(os, name): name for name in names}
    return by_number.get(policy & 0xFF, str(policy))


def read(tree: Tree, policy: str, fifo_refused: str | None) -> Permissions:
    """`fifo_refused`: what ask_for_fifo() gave."""
    limits = tree.text("/proc/self/limits") or ""
    effective = re.search(
        r"^CapEff:\s*([0-9a-f]+)", tree.text("/proc/self/status") or "", re.MULTILINE
    )
    capabilities = int(effective[1], 16) if effective else None
    return Permissions(
        policy=policy,
        fifo_refused=fifo_refused,
        may_nice=None if capabilities is None else bool(capabilities >> CAP_SYS_NICE & 1),
        may_lock=None if capabilities is None else bool(capabilities >> CAP_IPC_LOCK & 1),
        rtprio_limit=_soft_limit(limits, "Max realtime priority"),
        memlock_limit=_soft_limit(limits, "Max locked memory"),
        timer_slack_ns=tree.number("/proc/self/timerslack_ns"),
    )


def _soft_limit(limits: str, name: str) -> int | None:
    found = re.search(rf"^{name}\s+(\w+)", limits, re.MULTILINE)
    if not found:
        return None
    return UNLIMITED if found[1] == "unlimited" else int(found[1])


def judge(permissions: Permissions) -> Findings:
    yield _priority(permissions)
    yield _locking(permissions)
    yield _slack(permissions.timer_slack_ns)


def _priority(permissions: Permissions) -> Finding:
    refused = permissions.fifo_refused
    if refused is None:
        return Finding("real-time-priority", "ok", "This process may have a real-time priority.")
    return Finding(
        "real-time-priority",
        "warning",
        f"The kernel refuses this process a real-time priority: {refused}. Any other thread can "
        "take its CPU away.",
        "A line `USER - rtprio 90` in /etc/security/limits.d/, LimitRTPRIO=90 in a systemd unit, "
        "or --cap-add SYS_NICE for a container. If root is refused too, the control group has no "
        "real-time share (CONFIG_RT_GROUP_SCHED).",
    )


def _locking(permissions: Permissions) -> Finding:
    limit = permissions.memlock_limit
    if permissions.may_lock or limit == UNLIMITED:
        return Finding("locked-memory", "ok", "This process may lock all its memory.")
    if limit is None:
        return Finding("locked-memory", "info", "How much memory may be locked is unknown.")
    return Finding(
        "locked-memory",
        "info" if limit >= ENOUGH_LOCKED else "warning",
        f"This process may lock {limit / 2**20:g} MiB of memory: what is more can be taken away "
        "and costs a page fault when it is needed.",
        "A line `USER - memlock unlimited` in /etc/security/limits.d/, LimitMEMLOCK=infinity in a "
        "systemd unit, or --ulimit memlock=-1 for a container.",
    )


def _slack(slack_ns: int | None) -> Finding:
    if slack_ns is None:
        return Finding("timer-slack", "info", "The timer slack of this process is unknown.")
    text = f"The timer slack is {slack_ns:,} ns: so much later sleeps of ordinary threads may end."
    if slack_ns > 1000:
        return Finding(
            "timer-slack",
            "info",
            text,
            "prctl(PR_SET_TIMERSLACK, 1), as timebase_realtime_acquire() does, or TimerSlackNSec=1 "
            "in a systemd unit. Real-time threads have none.",
        )
    return Finding("timer-slack", "ok", text)
