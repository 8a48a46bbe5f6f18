# SPDX-License-Identifier: MIT
"""What the report calls things: words where the program has identifiers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

from timebase.api.clock import Status
from timebase.api.library import ffi, lib
from timebase.text.hypervisor import show_hypervisor

# Rows of the costs and of the readings between cores.
READINGS = {
    "empty_loop": "an empty loop",
    "counter": "the bare counter",
    "counter_ordered": "the bare counter, ordered",
    "ticks": "ticks, unordered",
    "ticks_ordered": "ticks, ordered",
    "utc_unordered": "UTC, unordered",
    "utc": "UTC, ordered",
    "mono_unordered": "monotonic time, unordered",
    "mono": "monotonic time, ordered",
    "tai": "TAI, ordered",
    "utc_interval": "interval of true UTC",
    "realtime_interval": "interval of the system clock",
    "now": "all that a tick means",
    "page_updated_1khz": "UTC, beside a busy writer",
    "stopwatch": "stopwatch, start and stop",
    "clock_gettime_realtime": "CLOCK_REALTIME",
    "clock_gettime_monotonic": "CLOCK_MONOTONIC",
    "clock_gettime_raw": "CLOCK_MONOTONIC_RAW",
    "clock_gettime_realtime_coarse": "CLOCK_REALTIME_COARSE",
    "clock_gettime_monotonic_coarse": "CLOCK_MONOTONIC_COARSE",
    "gettimeofday": "gettimeofday",
    "clock_gettime_syscall": "a reading by system call",
    "tb_nano_2007": "tb, of the article",
    "tb_libc_2007": "tb_libc, of the article",
}
OF_THE_ARTICLE = ("tb_nano_2007", "tb_libc_2007")
# Of the clock's statistics; what is left out is said elsewhere in the report.
STATISTICS = {
    "samples": "comparisons with the kernel's clock",
    "publications": "renewals of its lines",
    "late_publications": "of them late",
    "utc_steps": "steps of the system clock",
    "last_utc_step_ns": "the last of them, ns",
    "suspends": "times that the machine slept",
    "counter_jumps": "jumps of the counter",
    "counter_backwards": "times that the counter went back",
    "rate_changes": "changes of the system clock's pace",
    "reference_failures": "failures to read the kernel's clocks",
    "rescues": "takeovers from a thread that was gone",
    "last_offset_ns": "difference at the last comparison, ns",
    "bracket_ns": "how well that was made, ± ns",
    "frequency_hz": "frequency of the counter, Hz",
    "frequency_error_ppb": "known within, parts in 1,000 million",
    "counter_id": "counter",
    "status": "status at the end",
}
MACHINE = {"frequency_hz": "counter's frequency, Hz", "cpus": "CPUs", "timebase": "version"}
UNIT = re.compile(r"(?<=\d) (?=(?:ns|µs|ms|s|%|ppm|Hz|kHz|MHz)\b|%)")


def reading(name: str) -> str:
    return READINGS.get(name, name)


def ours_and_the_kernels(rows: Sequence[dict]) -> list[dict]:
    return [row for row in rows if row["name"] not in OF_THE_ARTICLE]


def of_the_article(rows: Sequence[dict]) -> list[dict]:
    return [row for row in rows if row["name"] in OF_THE_ARTICLE]


def prose(text: str) -> Markup:
    """Commands in `backticks` become code; a number and its unit stay on one line."""
    escaped = UNIT.sub("\N{NO-BREAK SPACE}", str(escape(text)))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))


def statistics(found: dict) -> dict[str, str]:
    """By words, and what is a number in the page by its name."""
    named = {
        "status": lambda number: Status(number).name,
        "counter_id": lambda number: ffi.string(lib.timebase_counter_name(number)).decode(),
    }
    return {
        STATISTICS.get(name, name): named[name](value) if name in named else f"{value:,}"
        for name, value in found.items()
    }


def machine(found: dict) -> dict[str, str]:
    """The same of the machine."""
    shown = {**found, "hypervisor": show_hypervisor(found["hypervisor"]) or "none seen"}
    return {
        MACHINE.get(name, name.replace("_", " ")): _value(value) for name, value in shown.items()
    }


def _value(value) -> str:
    if value is None:
        return "unknown"
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)
