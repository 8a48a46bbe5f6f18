# SPDX-License-Identifier: MIT
"""Which machine a number was measured on."""

from __future__ import annotations

import os
import platform

from timebase.api.counter import Counter
from timebase.api.version import version


def processor_name() -> str | None:
    """The processor's name for itself. None where /proc/cpuinfo does not have it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            fields = [line.split(":", 1) for line in file if ":" in line]
    except OSError:
        return None
    wanted = ("model name", "cpu", "cpu model", "uarch", "processor")
    found = {key.strip().lower(): value.strip() for key, value in reversed(fields)}
    return next((found[key] for key in wanted if found.get(key, "0")[:1].isalpha()), None)


def describe(counter: Counter) -> dict:
    """What the JSON documents call "machine"."""
    return {
        "processor": processor_name(),
        "architecture": platform.machine(),
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "hypervisor": counter.hypervisor_name if counter.hypervisor else None,
        "counter": counter.name,
        "frequency_hz": counter.frequency_hz,
        "kernel_clocksource": counter.kernel_clocksource,
        "python": platform.python_version(),
        "timebase": version(),
    }
