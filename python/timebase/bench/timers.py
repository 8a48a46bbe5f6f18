# SPDX-License-Identifier: MIT
"""The timers of this machine beside its counter, and its rate by each (measure/timers.h)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable

from timebase.api.counter import probe
from timebase.api.library import ffi, lib, text_of
from timebase.bench.placement import pinned, quiet_cpu

KERNEL, HPET, ACPI_PM, RTC = "kernel", "hpet", "acpi_pm", "rtc"
TITLES = {
    KERNEL: "kernel's raw clock",
    HPET: "HPET",
    ACPI_PM: "ACPI PM timer",
    RTC: "battery clock",
}
RTC_SECONDS = 6.0  # it counts seconds, and three edges are the fewest that show a rate
AS_ROOT = "Run it as root."
PORTS = (
    "Run it as root with CAP_SYS_RAWIO, outside of a container. A kernel that is locked down "
    "(secure boot) refuses ports to root too."
)
ADVICE = {
    (
        HPET,
        "NOT_FOUND",
    ): "Most virtual machines have none. Elsewhere: a kernel with CONFIG_HPET, no "
    "hpet=disable on its command line, HPET switched on in the firmware's settings; in a container, "
    "/dev/hpet.",
    (HPET, "PERMISSION"): f"{AS_ROOT} If root is refused too, boot with hpet_mmap=1.",
    (HPET, "UNSUPPORTED"): "Boot with hpet_mmap=1, on a kernel with CONFIG_HPET_MMAP.",
    (ACPI_PM, "NOT_FOUND"): "Machines without ACPI have none. In a container it takes "
    "/sys/firmware, and CAP_SYS_RAWIO or /dev/port.",
    (ACPI_PM, "PERMISSION"): PORTS,
    (ACPI_PM, "UNSUPPORTED"): "Nothing can be done: machines with reduced ACPI, such as small "
    "virtual ones, are built without it.",
    (RTC, "NOT_FOUND"): "Virtual machines often have none. Elsewhere load its driver (rtc_cmos).",
}
OTHERWISE = "Its firmware or hypervisor is at fault: do not go by it."

Progress = Callable[[float], None]


def run(
    seconds: float = 1.0,
    names: Sequence[str] = tuple(TITLES),
    progress: Progress = lambda share: None,
) -> dict:
    """A row for each of `names`, the kernel's raw clock first. Each takes `seconds`, the battery
    clock RTC_SECONDS at least."""
    cpu, period_ns = quiet_cpu(), 1e9 / probe().frequency_hz
    rows = []
    with pinned(cpu):
        for name in names:
            least = RTC_SECONDS if name == RTC else 0.0
            rows.append(_row(name, max(seconds, least), period_ns))
            progress(len(rows) / len(names))
    return {"seconds": seconds, "cpu": cpu, "rows": compare(rows)}


def witnesses(seconds: float) -> list[dict]:
    """Rows of HPET and ACPI timer; with the kernel's before them, if there is something to compare
    it with. It takes no time where neither can be read."""
    rows = run(seconds, (HPET, ACPI_PM))["rows"]
    if any(row["rate"] for row in rows):
        rows = run(seconds, (KERNEL,))["rows"] + rows
    return compare(rows)


def compare(rows: list[dict]) -> list[dict]:
    """The rows with `against_kernel`: by how much the counter goes faster by a timer than by
    the kernel, which for the kernel itself is no question."""
    kernel = next((row["rate"] for row in rows if row["name"] == KERNEL), None)
    return [
        {**row, "against_kernel": None if row["name"] == KERNEL else _against(row["rate"], kernel)}
        for row in rows
    ]


def _against(rate: dict | None, kernel: dict | None) -> dict | None:
    if rate is None or kernel is None:
        return None
    return {
        "ppm": (rate["counter_hz"] / kernel["counter_hz"] - 1) * 1e6,
        "error_ppm": rate["error_ppm"] + kernel["error_ppm"],
    }


def _row(name: str, seconds: float, period_ns: float) -> dict:
    found = ffi.new("struct timebase_bench_timer *")
    error = lib.timebase_bench_timer(_number(name), max(1, round(seconds * 1000)), found)
    if error != 0:
        return {**_nothing(name), "problem": _problem(name, error, found)}
    plain, edge = (_fit(fit, period_ns) for fit in (found.plain, found.edge))
    return {
        "name": name,
        "problem": None,
        "hz": found.hz,
        "reads": found.reads,
        "same": found.same,
        "read_ns": {
            "least": found.least_ticks * period_ns,
            "median": found.read_ticks * period_ns,
            "p99": found.slowest_ticks * period_ns,
        },
        "sees_edge": bool(found.sees_edge),
        "plain": plain,
        "edge": edge if found.sees_edge else None,
        "rate": _rate(found),
    }


def _number(name: str) -> int:
    names = [
        ffi.string(lib.timebase_bench_timer_name(which)).decode()
        for which in range(lib.timebase_bench_timers())
    ]
    return names.index(name)


def _nothing(name: str) -> dict:
    keys = ("hz", "reads", "same", "read_ns", "sees_edge", "plain", "edge", "rate")
    return {"name": name, **dict.fromkeys(keys)}


def _problem(name: str, error: int, found) -> dict:
    kind = next(
        constant.removeprefix("TIMEBASE_E_")
        for constant, value in ffi.typeof("enum timebase_error").relements.items()
        if value == error
    )
    reason = ffi.string(found.reason).decode() if found.reason != ffi.NULL else text_of(error)
    return {"error": kind, "text": reason, "advice": ADVICE.get((name, kind), OTHERWISE)}


def _fit(fit, period_ns: float) -> dict:
    return {
        "taken": fit.taken,
        "kept": fit.kept,
        "bracket_ns": fit.bracket_ticks * period_ns,
        "residual_ticks": fit.residual_ticks,
        "residual_most_ticks": fit.residual_most_ticks,
    }


def _rate(found) -> dict | None:
    """By edges or without, whichever is more certain; None if neither shows one."""
    rates = [
        {
            "by": name,
            "counter_hz": fit.ticks_per_count * found.hz,
            "error_ppm": fit.error_ticks_per_count / fit.ticks_per_count * 1e6,
        }
        for name, fit in (("plain", found.plain), ("edge", found.edge))
        if fit.has_rate
    ]
    return min(rates, key=lambda rate: rate["error_ppm"], default=None)
