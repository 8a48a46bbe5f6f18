# SPDX-License-Identifier: MIT
"""The kernel's tick: how often it interrupts a thread that polls, and where it need not."""

from __future__ import annotations

import time
from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.realtime import cpulist
from timebase.doctor.realtime.kernel import Kernel
from timebase.doctor.tree import Tree

CLOCK_MONOTONIC_COARSE = 6  # linux/time.h: moves once a tick, and says so as its resolution


@dataclass(frozen=True)
class Tick:
    hz: int | None
    hz_source: str | None
    can_stop: bool | None  # the kernel is built with NO_HZ_FULL
    stops_on: tuple[int, ...] | None  # these CPUs have no tick while they run one thread
    parameters: tuple[str, ...]


def coarse_resolution_ns() -> int | None:
    try:
        return round(time.clock_getres(CLOCK_MONOTONIC_COARSE) * 1e9)
    except OSError:
        return None


def read(tree: Tree, kernel: Kernel, coarse_ns: int | None) -> Tick:
    hz, source = _hz(kernel, coarse_ns)
    built = kernel.option("NO_HZ_FULL")
    stops_on = cpulist.parse(tree.text("/sys/devices/system/cpu/nohz_full"))
    return Tick(
        hz=hz,
        hz_source=source,
        can_stop=None if built is None else built == "y",
        # A kernel without NO_HZ_FULL has no such file, and stops no tick.
        stops_on=() if stops_on is None and built == "n" else stops_on,
        parameters=kernel.parameter("nohz_full", "rcu_nocbs", "nohz", "skew_tick"),
    )


def _hz(kernel: Kernel, coarse_ns: int | None) -> tuple[int | None, str | None]:
    said = kernel.option("HZ")
    if said is not None and said.isdigit():
        return int(said), kernel.options_source
    if coarse_ns:
        return round(1e9 / coarse_ns), "the resolution of CLOCK_MONOTONIC_COARSE"
    return None, None


def judge(tick: Tick, cpu: int) -> Findings:
    rate = f"{tick.hz} times a second" if tick.hz else "at an unknown rate"
    if tick.stops_on is None:
        yield Finding(
            "tick",
            "info",
            f"The kernel's tick comes {rate}; whether it stops on CPU {cpu} while one thread runs "
            "is unknown: neither the kernel's configuration nor "
            "/sys/devices/system/cpu/nohz_full can be read.",
        )
    elif cpu in tick.stops_on:
        yield Finding(
            "tick",
            "ok",
            f"The kernel's tick ({rate}) stops on CPU {cpu} while one thread runs there.",
        )
    else:
        yield Finding(
            "tick",
            "warning",
            f"The kernel's tick interrupts a thread that polls on CPU {cpu} {rate}: what is due "
            "then comes some microseconds late.",
            _advice(tick, cpu),
        )


def _advice(tick: Tick, cpu: int) -> str:
    if tick.can_stop is False:
        return (
            "This kernel cannot stop its tick: take one with CONFIG_NO_HZ_FULL=y, or keep due "
            "times away from the ticks."
        )
    return f"Start the kernel with nohz_full={cpu} rcu_nocbs={cpu}."
