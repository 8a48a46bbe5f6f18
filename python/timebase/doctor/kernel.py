# SPDX-License-Identifier: MIT
"""What the kernel says in /proc, /sys and its log. All may be missing: then None."""

from __future__ import annotations

import os
import re

from timebase.doctor.tree import Tree

CLOCKSOURCE_WORDS = re.compile(
    r"clocksource|\btsc\b.*(unstable|unsynchronized|warp|skew|switch)|arch_timer"
    # Power's "time base", and no file called after this project.
    r"|(?<![\w./-])time ?base(?![\w./-])",
    re.IGNORECASE,
)
MOST_LINES = 5


def clock_parameters() -> list[str]:
    """What was said about clocks on the kernel's command line."""
    words = (Tree().text("/proc/cmdline") or "").split()
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
