# SPDX-License-Identifier: MIT
"""Whether the core's clock changes, and with it the time that instructions take."""

from __future__ import annotations

from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.tree import Tree


@dataclass(frozen=True)
class Frequency:
    driver: str | None
    governor: str | None
    min_khz: int | None
    max_khz: int | None
    turbo: bool | None


def read(tree: Tree, cpu: int) -> Frequency:
    folder = f"/sys/devices/system/cpu/cpu{cpu}/cpufreq"
    return Frequency(
        driver=tree.text(f"{folder}/scaling_driver"),
        governor=tree.text(f"{folder}/scaling_governor"),
        min_khz=tree.number(f"{folder}/scaling_min_freq"),
        max_khz=tree.number(f"{folder}/scaling_max_freq"),
        turbo=_turbo(tree),
    )


def _turbo(tree: Tree) -> bool | None:
    forbidden = tree.number("/sys/devices/system/cpu/intel_pstate/no_turbo")
    if forbidden is not None:
        return not forbidden
    boost = tree.number("/sys/devices/system/cpu/cpufreq/boost")
    return None if boost is None else bool(boost)


def judge(frequency: Frequency, cpu: int) -> Findings:
    yield _governor(frequency, cpu)
    yield _turbo_finding(frequency.turbo)


def _governor(frequency: Frequency, cpu: int) -> Finding:
    governor = frequency.governor
    if governor is None:
        return Finding(
            "governor",
            "info",
            f"Who chooses the clock of CPU {cpu} is unknown: the kernel has no cpufreq driver here. "
            "On a virtual machine the host does.",
        )
    if governor == "performance" or _fixed(frequency):
        return Finding("governor", "ok", f"CPU {cpu} keeps to its highest clock ({governor}).")
    return Finding(
        "governor",
        "warning",
        f"The governor of CPU {cpu} is {governor!r}: after an idle time the core is slow, and "
        "changes its clock while a wait counts on it.",
        "cpupower frequency-set -g performance",
    )


def _fixed(frequency: Frequency) -> bool:
    return frequency.min_khz is not None and frequency.min_khz == frequency.max_khz


def _turbo_finding(turbo: bool | None) -> Finding:
    if turbo is None:
        return Finding("turbo", "info", "Whether the core clock has a turbo range is unknown.")
    if turbo:
        return Finding(
            "turbo",
            "info",
            "Turbo is on: the core clock moves with temperature and with the other cores' work. "
            "Exact waits follow it, some waits late.",
            "For an even clock at the price of speed: echo 1 > "
            "/sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > "
            "/sys/devices/system/cpu/cpufreq/boost.",
        )
    return Finding("turbo", "ok", "Turbo is off: the core clock is even.")
