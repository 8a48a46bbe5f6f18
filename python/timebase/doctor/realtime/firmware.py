# SPDX-License-Identifier: MIT
"""Whether the firmware takes the CPU away without the kernel's knowledge (SMIs)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.realtime.kernel import Kernel
from timebase.doctor.tree import Tree

MSR_SMI_COUNT = 0x34  # Intel's manual, volume 4; other makers have none at this number


@dataclass(frozen=True)
class Firmware:
    smi_count: int | None  # since the processor's start; None: cannot be read
    while_polling: int | None  # how many more after the measurement
    tracer: bool | None  # the kernel can look for them (hwlat)


def smi_count(tree: Tree, cpu: int) -> int | None:
    if "GenuineIntel" not in (tree.text("/proc/cpuinfo") or ""):
        return None
    register = tree.bytes(f"/dev/cpu/{cpu}/msr", MSR_SMI_COUNT, 8)
    return struct.unpack("=Q", register)[0] & 0xFFFFFFFF if register else None


def read(kernel: Kernel, before: int | None, after: int | None) -> Firmware:
    """`before` and `after`: smi_count() on both sides of the measurement."""
    built = kernel.option("HWLAT_TRACER")
    return Firmware(
        smi_count=after,
        while_polling=None if before is None or after is None else (after - before) & 0xFFFFFFFF,
        tracer=None if built is None else built == "y",
    )


def judge(firmware: Firmware, cpu: int) -> Findings:
    if firmware.smi_count is None:
        yield Finding(
            "firmware",
            "info",
            f"Whether the firmware interrupts CPU {cpu} (SMIs) is unknown: its counter cannot be "
            "read here.",
            _search(firmware),
        )
    elif firmware.while_polling:
        yield Finding(
            "firmware",
            "warning",
            f"The firmware interrupted CPU {cpu} {firmware.while_polling} times during this "
            f"measurement ({firmware.smi_count} since the start).",
            "Look in the firmware's set-up for what causes SMIs: USB legacy support, power "
            "capping, error reporting.",
        )
    else:
        yield Finding(
            "firmware",
            "ok",
            f"The firmware did not interrupt CPU {cpu} during this measurement "
            f"({firmware.smi_count} times since the start).",
        )


def _search(firmware: Firmware) -> str:
    look = "On Intel: modprobe msr, and run doctor as root."
    if firmware.tracer is False:
        return f"{look} Otherwise hwlatdetect, on a kernel with CONFIG_HWLAT_TRACER=y."
    return f"{look} Otherwise hwlatdetect --duration=60 (package rt-tests) looks for them."
