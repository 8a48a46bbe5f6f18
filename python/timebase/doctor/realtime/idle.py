# SPDX-License-Identifier: MIT
"""How deeply the CPU may sleep, and so how long it takes to wake up."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.realtime.kernel import Kernel
from timebase.doctor.tree import Tree

REQUEST = "/dev/cpu_dma_latency"
PROMPT_US = 2  # up to here a state is as good as none


@dataclass(frozen=True)
class State:
    name: str
    latency_us: int
    disabled: bool


@dataclass(frozen=True)
class Idle:
    driver: str | None
    governor: str | None
    states: tuple[State, ...] | None  # None: the kernel shows none
    limit_us: int | None  # the longest wake-up that a process allows; None: not readable
    request_allowed: bool | None  # this process may ask for one; None: no such file
    parameters: tuple[str, ...]

    @property
    def deepest(self) -> State | None:
        """Of those that may be entered now; None if no state is known."""
        limit = float("inf") if self.limit_us is None else self.limit_us
        entered = [s for s in self.states or () if not s.disabled and s.latency_us <= limit]
        return max(entered, key=lambda state: state.latency_us, default=None)


def read(tree: Tree, kernel: Kernel, cpu: int) -> Idle:
    limit = tree.bytes(REQUEST, 0, 4)
    return Idle(
        driver=tree.text("/sys/devices/system/cpu/cpuidle/current_driver"),
        governor=tree.text("/sys/devices/system/cpu/cpuidle/current_governor"),
        states=_states(tree, cpu),
        limit_us=struct.unpack("=i", limit)[0] if limit else None,
        request_allowed=tree.writable(REQUEST),
        parameters=kernel.parameter(
            "idle", "intel_idle.max_cstate", "processor.max_cstate", "cpuidle.off"
        ),
    )


def _states(tree: Tree, cpu: int) -> tuple[State, ...] | None:
    found = []
    for folder in tree.names(f"/sys/devices/system/cpu/cpu{cpu}/cpuidle/state[0-9]*"):
        latency = tree.number(f"{folder}/latency")
        if latency is not None:
            name = tree.text(f"{folder}/name") or folder.rpartition("/")[2]
            found.append(State(name, latency, bool(tree.number(f"{folder}/disable"))))
    return tuple(found) or None


def judge(idle: Idle, cpu: int) -> Findings:
    yield _depth(idle, cpu)
    yield _request(idle)


def _depth(idle: Idle, cpu: int) -> Finding:
    if "idle=poll" in idle.parameters:
        return Finding("idle-states", "ok", "Idle CPUs poll (idle=poll): they never sleep.")
    deepest = idle.deepest
    if idle.states and deepest is None:
        return Finding("idle-states", "ok", f"CPU {cpu} may enter no idle state: it polls.")
    if deepest is None:
        return Finding(
            "idle-states",
            "info",
            f"How deeply CPU {cpu} sleeps is unknown: the kernel shows no idle states. On a virtual "
            "machine the host decides.",
        )
    text = (
        f"The deepest idle state that CPU {cpu} may enter is {deepest.name}, "
        f"{deepest.latency_us} µs to wake up from by its driver's account."
    )
    if deepest.latency_us <= PROMPT_US:
        return Finding("idle-states", "ok", text)
    return Finding(
        "idle-states",
        "info" if idle.request_allowed else "warning",
        text,
        f"Hold {REQUEST} open with 0 written to it, as timebase_realtime_acquire() does; or start "
        "the kernel with intel_idle.max_cstate=1 or idle=poll, at the price of power.",
    )


def _request(idle: Idle) -> Finding:
    if idle.request_allowed:
        return Finding("idle-request", "ok", f"This process may open {REQUEST}.")
    if idle.request_allowed is None:
        return Finding(
            "idle-request",
            "info",
            f"There is no {REQUEST} here: nobody can ask for shallow idle states.",
            "In a container pass the device: --device /dev/cpu_dma_latency.",
        )
    return Finding(
        "idle-request",
        "warning",
        f"This process may not open {REQUEST}: it cannot ask for shallow idle states.",
        "Give its group access by a udev rule (docs/guide/real-time.md).",
    )
