# SPDX-License-Identifier: MIT
"""How late a sleeping thread wakes up here, and how often a polling one is held up. Takes some 0.4
s, in the C loops of measure/."""

from __future__ import annotations

import os
from dataclasses import dataclass

from timebase.api.errors import TimebaseError
from timebase.api.library import check, ffi, lib
from timebase.bench.percentile import percentile
from timebase.bench.placement import pinned
from timebase.doctor.finding import Finding, Findings
from timebase.doctor.realtime.permissions import policy_name
from timebase.text.duration import show_duration

SLEEPS, PERIOD_NS = 200, 1_000_000
POLLING_NS = 200_000_000
GAP_NS = 1000  # more than a cache miss or a stumble of the pipeline
LATE_US = 100  # a 95th percentile that is worth a warning
LOST_SHARE = 0.01


@dataclass(frozen=True)
class Wakeups:
    policy: str  # of the thread that slept
    sleeps: int
    period_ns: int
    p50_ns: float | None  # of so few sleeps that they do not carry it
    p90_ns: float | None
    p95_ns: float | None
    p99_ns: float | None
    max_ns: int


@dataclass(frozen=True)
class Gaps:
    polling_ns: float
    threshold_ns: int
    count: int
    longest_ns: float
    lost_share: float
    interrupts: dict | None  # that came meanwhile, by the kernel's label; None: not known


@dataclass(frozen=True)
class Measured:
    """None: could not be measured, and `error` says why."""

    wakeups: Wakeups | None
    gaps: Gaps | None
    error: str | None


def measure(cpu: int, frequency_hz: int, count_interrupts) -> Measured:
    """On that CPU, as this thread is scheduled now. `count_interrupts()`: a dictionary or None."""
    try:
        with pinned(cpu):
            return Measured(_sleep(), _poll(frequency_hz, count_interrupts), None)
    except (OSError, TimebaseError) as problem:
        return Measured(None, None, str(problem))


def _sleep() -> Wakeups:
    late = ffi.new("int64_t[]", SLEEPS)
    check(lib.timebase_bench_wakeups(SLEEPS, PERIOD_NS, late))
    ns = sorted(late)
    shares = {"p50_ns": 0.5, "p90_ns": 0.9, "p95_ns": 0.95, "p99_ns": 0.99}
    return Wakeups(
        policy=policy_name(os.sched_getscheduler(0)),
        sleeps=SLEEPS,
        period_ns=PERIOD_NS,
        **{name: percentile(ns, share) for name, share in shares.items()},
        max_ns=ns[-1],
    )


def _poll(frequency_hz: int, count_interrupts) -> Gaps:
    ticks_per_ns = frequency_hz / 1e9
    found = ffi.new("struct timebase_bench_gaps *")
    threshold = max(1, round(GAP_NS * ticks_per_ns))
    before = count_interrupts()
    check(lib.timebase_bench_poll(round(POLLING_NS * ticks_per_ns), threshold, found))
    after = count_interrupts()
    return Gaps(
        polling_ns=found.elapsed / ticks_per_ns,
        threshold_ns=GAP_NS,
        count=found.gaps,
        longest_ns=found.longest / ticks_per_ns,
        lost_share=found.lost / found.elapsed,
        interrupts=more(before, after),
    )


def more(before: dict | None, after: dict | None) -> dict | None:
    """What was counted in between."""
    if before is None or after is None:
        return None
    grown = {label: count - before.get(label, 0) for label, count in after.items()}
    return {label: count for label, count in grown.items() if count > 0}


def judge(measured: Measured, cpu: int) -> Findings:
    if measured.wakeups is None or measured.gaps is None:
        yield Finding(
            "wake-ups",
            "info",
            f"Wake-ups and gaps could not be measured on CPU {cpu}: {measured.error}.",
        )
        return
    yield _wakeups(measured.wakeups, cpu)
    yield _gaps(measured.gaps, cpu)


def _wakeups(found: Wakeups, cpu: int) -> Finding:
    text = (
        f"Of {found.sleeps} sleeps on CPU {cpu} ({found.policy}) half ended within "
        f"{show_duration(found.p50_ns)}, 95 % within {show_duration(found.p95_ns)}, the last after "
        f"{show_duration(found.max_ns)}."
    )
    if found.p95_ns <= LATE_US * 1000:
        return Finding("wake-ups", "ok", text)
    return Finding(
        "wake-ups",
        "warning",
        text,
        "Sleeping waits need as long a margin, or come late. Give the thread a real-time priority "
        "(chrt -f 50 timebase doctor shows the difference) and the CPU shallow idle states.",
    )


def _gaps(found: Gaps, cpu: int) -> Finding:
    per_second = found.count * 1e9 / found.polling_ns
    text = (
        f"A thread that polled on CPU {cpu} for {found.polling_ns / 1e6:.0f} ms was held up "
        f"{per_second:.0f} times a second for longer than 1 µs, {found.lost_share:.2%} of its time; "
        f"the longest took {show_duration(found.longest_ns)}."
    )
    if found.interrupts:
        often = sorted(found.interrupts.items(), key=lambda item: -item[1])[:3]
        text += " Interrupts meanwhile: " + ", ".join(f"{n} {label}" for label, n in often) + "."
    if found.lost_share < LOST_SHARE:
        return Finding("gaps", "ok", text)
    return Finding(
        "gaps",
        "warning",
        text,
        "So many waits are missed at the least. Look at what comes: /proc/interrupts, and the "
        "findings on tick, isolation and throttling.",
    )
