# SPDX-License-Identifier: MIT
"""What the kernel says in /proc, /sys and its log. All may be missing: then None."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

CLOCKSOURCE_WORDS = re.compile(
    r"clocksource|\btsc\b.*(unstable|unsynchronized|warp|skew|switch)|time ?base|arch_timer",
    re.IGNORECASE,
)
MOST_LINES = 5


@dataclass(frozen=True)
class TimeNamespace:
    """Where CLOCK_MONOTONIC and CLOCK_BOOTTIME differ from the machine's."""

    initial: bool | None  # None: /proc/1 may not be looked at
    monotonic_offset_ns: int
    boottime_offset_ns: int


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


def parse_timens_offsets(text: str) -> dict[str, int]:
    """{"monotonic": ns, "boottime": ns} from lines of: name, seconds, nanoseconds."""
    offsets = {"monotonic": 0, "boottime": 0}
    for line in text.splitlines():
        name, seconds, nanoseconds = line.split()
        offsets[name] = int(seconds) * 1_000_000_000 + int(nanoseconds)
    return offsets


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


def clock_parameters() -> list[str]:
    """What was said about clocks on the kernel's command line."""
    words = (_text("/proc/cmdline") or "").split()
    return [word for word in words if word.startswith(("tsc=", "clocksource=", "notsc", "hpet="))]


def clock_messages() -> list[str] | None:
    """The last lines of the kernel's log about its clock; None if it may not be read."""
    try:
        log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    lines = []
    try:
        while record := _record(log):
            message = record.partition(";")[2].partition("\n")[0]
            if CLOCKSOURCE_WORDS.search(message):
                lines.append(message)
    finally:
        os.close(log)
    return lines[-MOST_LINES:]


def _record(log: int) -> str | None:
    """The next record, None after the last. A record overwritten while reading is passed over."""
    while True:
        try:
            return os.read(log, 8192).decode("utf-8", "replace")
        except BrokenPipeError:
            continue
        except OSError:
            return None
