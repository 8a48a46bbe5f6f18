# SPDX-License-Identifier: MIT
"""The time namespace of this process. /proc may be missing: then None."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TimeNamespace:
    """Where CLOCK_MONOTONIC and CLOCK_BOOTTIME differ from the machine's."""

    initial: bool | None  # None: /proc/1 may not be looked at
    monotonic_offset_ns: int
    boottime_offset_ns: int


def read_time_namespace() -> TimeNamespace | None:
    """None if the kernel has no time namespaces, or /proc is not there."""
    text = _text("/proc/self/timens_offsets")
    if text is None:
        return None
    own, first = _link("/proc/self/ns/time"), _link("/proc/1/ns/time")
    offsets = parse_timens_offsets(text)
    return TimeNamespace(
        initial=None if first is None else own == first,
        monotonic_offset_ns=offsets["monotonic"],
        boottime_offset_ns=offsets["boottime"],
    )


def parse_timens_offsets(text: str) -> dict[str, int]:
    """{"monotonic": ns, "boottime": ns} from lines of: name, seconds, nanoseconds."""
    offsets = {"monotonic": 0, "boottime": 0}
    for line in text.splitlines():
        name, seconds, nanoseconds = line.split()
        offsets[name] = int(seconds) * 1_000_000_000 + int(nanoseconds)
    return offsets


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None
