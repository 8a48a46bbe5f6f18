# SPDX-License-Identifier: MIT
"""A line for monitoring: what status found, and after a bar the numbers with their limits.

    CRITICAL: No daemon ... | utc_maxerror=0.000000412s;;0.1;0 age=0.213s;;5;0

The numbers are label=value and unit;warning;critical;least, as monitoring plugins write them.
"""

from __future__ import annotations


def line(document: dict, said: str) -> str:
    """From what `status --json` prints, and its sentence. Without a page there are no numbers."""
    page = document["page"]
    # A bar would begin the numbers, and a second line is no part of the message.
    said = " ".join(said.replace("|", "/").split())
    numbers = " ".join(_numbers(page, document["limits"])) if page else ""
    return f"{document['level'].upper()}: {said}" + (f" | {numbers}" if numbers else "")


def _numbers(page: dict, limits: dict):
    # U: there is none just now.
    has_bound = page["status"] not in ("UNKNOWN", "UNRELIABLE")
    utc = _seconds(page["utc_maxerror_ns"]) if has_bound else "U"
    yield f"utc_maxerror={utc};;{_plain(limits['max_bound_ns'])};0"
    yield f"age={_seconds(page['age_ns'])};;{_plain(limits['max_age_ns'])};0"
    yield f"maxerror={_seconds(page['maxerror_ns'])};;;0"
    yield f"offset={_seconds(page['offset_ns'])}"
    yield f"late_publications={page['late_publications']}c"


def _seconds(ns: int) -> str:
    return f"{_plain(ns)}s"


def _plain(ns: int) -> str:
    return f"{ns / 1e9:.9f}".rstrip("0").rstrip(".")
