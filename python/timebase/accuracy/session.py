# SPDX-License-Identifier: MIT
"""The thread that measures: on one CPU, with the rights it was given, not more than its share."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

import numpy

from timebase.accuracy.core import Core
from timebase.api.clock import default_clock
from timebase.api.counter import Counter, probe
from timebase.api.errors import InputError, TimebaseError
from timebase.api.library import ffi
from timebase.api.realtime import Realtime, RealtimeBit, name_of
from timebase.api.wait import Waiter
from timebase.api.wait_result import Mechanism, disturbance_texts, mechanism_text
from timebase.bench.neighbour import BUSY_BELOW, QUIET_ABOVE, STEP
from timebase.bench.placement import allowed_cpus, may_run_on
from timebase.doctor.realtime.examine import choose_cpu as cpu_for_work
from timebase.doctor.tree import Tree

PRIORITY = 80
# A SCHED_FIFO thread that takes more than 95 % of a second is stopped for the rest of it, by
# default. So each second of work is followed by this much rest.
REST_PER_WORK = 1 / 9
MORE_CALIBRATIONS = 4
SCHEDULERS = ("SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH")


class Session:
    """What all experiments share."""

    def __init__(self, cpus: list[int], cpu: int, seed: int, counter: Counter, rights: dict):
        self.cpu = cpu
        self.rights = rights  # cpu, pinned, scheduler, memory_locked: in each row
        self.other_cpu = next((other for other in cpus if other != cpu), None)
        self.random = numpy.random.default_rng(seed)
        self.counter = counter
        self.waiter = new_waiter()
        self.core = Core()
        self._reader = new_waiter()  # reads the events' instants, and waits for nothing
        self.instrument = ffi.new(
            "struct timebase_bench_instrument *", {"waiter": self._reader.handle}
        )
        # by the clock, which has had longer to learn it than the probe's few milliseconds
        learnt_hz = default_clock().statistics()["frequency_hz"]
        self.ns_per_tick = 1e9 / (learnt_hz or counter.frequency_hz)

    def random_ticks(self, least_ns: float, most_ns: float, count: int) -> numpy.ndarray:
        """Targets: so many ticks ahead, each tick between the bounds as likely as any other."""
        least, most = (int(ns / self.ns_per_tick) for ns in (least_ns, most_ns))
        return self.random.integers(least, most, count, dtype=numpy.uint32, endpoint=True)

    def rest(self, worked_sec: float) -> None:
        time.sleep(worked_sec * REST_PER_WORK)


def new_waiter() -> Waiter:
    """A waiter that has learnt nothing yet but the machine. A disturbed calibration may leave it
    with nothing better than the loop; then it learns again."""
    waiter = Waiter()
    for _ in range(MORE_CALIBRATIONS):
        if waiter.describe().mechanism != Mechanism.LOOP:
            break
        waiter.calibrate()
    return waiter


def choose_cpu(wanted: int | None) -> int:
    """The wanted CPU, or else the doctor's choice for such work."""
    if wanted is None:
        return cpu_for_work(Tree())
    if not may_run_on(wanted):
        listed = ", ".join(map(str, allowed_cpus()))
        raise InputError(f"cannot measure on CPU {wanted}: this process may use {listed}")
    return wanted


@contextmanager
def session(cpu: int, seed: int) -> Iterator[tuple[Session, dict]]:
    """A session on this thread, and the conditions it has. Gives everything back at the end."""
    cpus, counter, load = allowed_cpus(), probe(), os.getloadavg()
    with Realtime(cpu, PRIORITY) as rights:
        if RealtimeBit.AFFINITY not in rights.granted:
            raise TimebaseError(f"cannot measure: the kernel refuses CPU {cpu} to this thread")
        told = conditions(cpu, rights, load)
        measuring = Session(cpus, cpu, seed, counter, rights_of(told))
        yield measuring, told


def conditions(cpu: int, rights: Realtime, load: tuple[float, ...]) -> dict:
    """How the machine was, and what the thread was given."""
    policy = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK
    return {
        "cpu": cpu,
        "load_average": [round(value, 2) for value in load],
        "scheduler": SCHEDULERS[policy] if policy < len(SCHEDULERS) else f"policy {policy}",
        "priority": os.sched_getparam(0).sched_priority,
        "granted": [name_of(bit) for bit in RealtimeBit if bit & rights.granted],
        "refused": [
            {"name": refusal.name, "reason": refusal.reason, "advice": refusal.advice}
            for refusal in rights.refused
        ],
    }


def rights_of(conditions: dict) -> dict:
    """What each row says of the thread."""
    return {
        "cpu": conditions["cpu"],
        "pinned": name_of(RealtimeBit.AFFINITY) in conditions["granted"],
        "scheduler": conditions["scheduler"],
        "memory_locked": name_of(RealtimeBit.MEMORY) in conditions["granted"],
    }


def describe_core(core: Core) -> dict:
    """What rows call a quiet core, and a busy one."""
    return {
        "additions_per_cycle": round(core.quiet, 2),
        "busy_below": BUSY_BELOW,
        "quiet_above": QUIET_ABOVE,
        "step_above": STEP,
    }


def describe_waiter(waiter: Waiter) -> dict:
    """What it has learnt, mechanism and evidence in words."""
    described = asdict(waiter.describe())
    described["mechanism"] = mechanism_text(described["mechanism"])
    described["evidence"] = disturbance_texts(described["evidence"])
    return described
