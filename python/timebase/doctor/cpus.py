# SPDX-License-Identifier: MIT
"""Do the counters of the CPUs agree? What `timebase cpus` measures, and what follows from it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from timebase.api.clock import DEFAULT_PAGE
from timebase.api.counter import Counter, probe
from timebase.api.cpus import Cpu, open_cpus
from timebase.api.errors import TimebaseError
from timebase.api.machine import describe
from timebase.doctor import sequences
from timebase.doctor.finding import SEVERITIES, Finding, Findings
from timebase.doctor.kernel import clock_messages, clock_parameters
from timebase.doctor.realtime import cpulist
from timebase.status.file import Refused
from timebase.status.metrics import METRICS_NAME, read_metrics
from timebase.status.page import copy_page, is_corrected

AROUND_IT = (
    "programs that order events by it go wrong; TIMEBASE_COUNTER=os reads the kernel's clock"
)


def examine(times: int, interval_s: float) -> dict:
    """What `cpus --json` prints."""
    counter = probe()
    if counter.name == "OS clock":
        raise TimebaseError(
            "this process reads the kernel's clock: there are no counters to compare"
        )
    cpus = _measure(times, interval_s)
    now_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    findings = [
        *judge(cpus, counter, clock_messages()),
        *can_they_be_corrected(cpus, counter, sequences.are_registered()),
        *_does_the_daemon_correct(),
    ]
    return {
        "machine": describe(counter),
        "reference_cpu": next((one.cpu for one in cpus if one.against == one.cpu), None),
        "measurements": times,
        "kernel": {
            "clocksource": counter.kernel_clocksource,
            "available": list(counter.kernel_available),
            "is_counter_distrusted": "KERNEL_DISTRUSTS" in counter.reason_names,
            "parameters": clock_parameters(),
            "messages": clock_messages(),
        },
        "cpus": [_row(one, now_ns) for one in cpus],
        "findings": [asdict(finding) for finding in findings],
    }


def _measure(times: int, interval_s: float) -> tuple[Cpu, ...]:
    """With rests between, in which CPUs may go idle: a counter that stops then is seen to."""
    with open_cpus() as cpus:
        for turn in range(times):
            if turn > 0:
                time.sleep(interval_s)
            found = cpus.measure()
    return found


def _row(cpu: Cpu, now_ns: int) -> dict:
    row = asdict(cpu)
    measured_ns = row.pop("measured_ns")
    row["age_s"] = None if measured_ns is None else max(0, now_ns - measured_ns) / 1e9
    return row


# ---- what follows: one function per question, no measuring here ---------------------------------


def judge(cpus: Sequence[Cpu], counter: Counter, messages: list | None) -> list[Finding]:
    """All findings, worst first."""
    questions = (_do_they_jump, _do_they_differ, _do_they_drift, _are_all_known)
    findings = [finding for question in questions for finding in question(cpus, counter)]
    findings += _what_does_the_kernel_say(counter, messages)
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def differs(cpu: Cpu) -> bool:
    """Certainly: no error explains it."""
    return cpu.state == "measured" and abs(cpu.offset_ticks) > cpu.error_ticks


def drifts(cpu: Cpu) -> bool:
    return cpu.drift_ppb is not None and abs(cpu.drift_ppb) > cpu.drift_error_ppb


def _names(cpus: Sequence[Cpu]) -> str:
    many = len(cpus) > 1
    return f"CPU{'s' if many else ''} {cpulist.show(tuple(one.cpu for one in cpus))}"


def _do_they_jump(cpus: Sequence[Cpu], _: Counter) -> Findings:
    if jumped := [one for one in cpus if one.jumps > 0 or one.state == "inconsistent"]:
        yield Finding(
            "cpus-jump",
            "critical",
            f"{_names(jumped)}: the counter was set, or stood still, between measurements",
            f"it stops in deep idle, or firmware writes it; no correction can follow: {AROUND_IT}",
        )


def _do_they_differ(cpus: Sequence[Cpu], counter: Counter) -> Findings:
    measured = [one for one in cpus if one.state == "measured"]
    far = [one for one in measured if differs(one)]
    if far:
        most = max(abs(one.offset_ticks) for one in far)
        yield Finding(
            "cpus-differ",
            "critical",
            f"{_names(far)}: the counter is certainly another, by up to {most:,} ticks "
            f"({most / counter.frequency_hz * 1e6:,.3g} µs)",
            AROUND_IT,
        )
    elif len(measured) > 1:
        most = max(one.error_ticks for one in measured)
        yield Finding(
            "cpus-agree",
            "ok",
            f"the counters of {len(measured)} CPUs agree, as far as {most:,} ticks "
            f"({most / counter.frequency_hz * 1e9:,.3g} ns) can be told",
        )


def _do_they_drift(cpus: Sequence[Cpu], _: Counter) -> Findings:
    if moving := [one for one in cpus if drifts(one)]:
        most = max((one.drift_ppb for one in moving), key=abs)
        yield Finding(
            "cpus-drift",
            "critical",
            f"{_names(moving)}: the counter runs at another pace, by up to {most / 1000:,.3g} ppm",
            AROUND_IT,
        )


def _are_all_known(cpus: Sequence[Cpu], _: Counter) -> Findings:
    if hidden := [one for one in cpus if one.state == "hidden"]:
        yield Finding(
            "cpus-hidden",
            "info",
            f"{_names(hidden)}: this process may not run there, so nothing is known",
            "run it outside of the container or cpuset",
        )
    if unknown := [one for one in cpus if one.state == "unknown"]:
        yield Finding(
            "cpus-unknown",
            "info",
            f"{_names(unknown)}: always busy, not measured",
            "give it more time: --times",
        )


def can_they_be_corrected(
    cpus: Sequence[Cpu], counter: Counter, are_sequences_registered: bool
) -> Findings:
    """An x86 says with its counter on which CPU it was read."""
    is_told = counter.name == "TSC" or are_sequences_registered
    if not is_told and any(differs(one) or drifts(one) for one in cpus):
        yield Finding(
            "cpus-untold",
            "info",
            "nothing tells a program on which CPU it has read the counter, so nobody corrects it",
            "this takes a processor of 64 bits, Linux 4.18, and glibc 2.35 or newer that registers "
            "restartable sequences",
        )


def _does_the_daemon_correct(path: Path = Path(DEFAULT_PAGE)) -> Findings:
    try:
        if not is_corrected(copy_page(path).page):
            return
    except Refused:
        return
    yield Finding(
        "cpus-corrected",
        "info",
        f"timebased corrects the counters by CPU, for all who read {path}",
        "programs that attach to it read each CPU by its own line; others read the counters as they are",
    )
    if count := _contradictions(path.with_name(METRICS_NAME)):
        yield Finding(
            "cpus-contradicted",
            "warning",
            f"{count:.0f} times a corrected reading contradicted its order, since timebased began: "
            "a CPU's counter was set, or stood still",
            "that CPU is read from the kernel's clock now; readings of before, up to half a second, may have gone back",
        )


def _contradictions(path: Path) -> float:
    try:
        return read_metrics(path, time.time()).value("timebase_contradictions_total") or 0
    except (Refused, TimebaseError):
        return 0


def _what_does_the_kernel_say(counter: Counter, messages: list | None) -> Findings:
    if "KERNEL_DISTRUSTS" not in counter.reason_names:
        return
    last = f": {messages[-1]}" if messages else ""
    yield Finding(
        "kernel-distrusts",
        "warning",
        f"the kernel has thrown the counter away for {counter.kernel_clocksource}{last}",
        "its watchdog or its check of CPUs has seen more than a measurement of a second can",
    )
