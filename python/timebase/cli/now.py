# SPDX-License-Identifier: MIT
"""timebase now: the time, and how far it can be believed."""

from __future__ import annotations

from pathlib import Path

import typer

from timebase.cli.options import MaybePath
from timebase.cli.output import JSON_OPTION, print_json
from timebase.text.utc import iso_utc

PAGE_OPTION = typer.Option(
    None, help="Attach to this page, and tell the time by it; the daemon's is /run/timebase/page."
)
NO_BOUND = ("UNKNOWN", "UNRELIABLE")
NOBODY_KNOWS_NS = 16_000_000_000  # the kernel's maxerror when its clock is not synchronised


def now(json: bool = JSON_OPTION, page: MaybePath = PAGE_OPTION) -> None:
    """The time now: UTC, TAI, monotonic, and their bounds."""
    document = read(page)
    if json:
        print_json(document)
    else:
        _print_table(document)


def read(page: Path | None = None) -> dict:
    """What `now --json` prints."""
    from timebase import Clock, TimebaseError, default_clock
    from timebase.status.page import read_page

    if page is None:
        return _document(default_clock().now())
    try:
        with Clock.attach(page) as clock:
            return _document(clock.now())
    except TimebaseError:
        read_page(page)  # names the one cause of many, and raises
        raise


def _document(instant) -> dict:
    return {
        "utc": iso_utc(instant.utc_ns),
        "utc_ns": instant.utc_ns,
        "tai_ns": instant.tai_ns,
        "tai_offset_sec": instant.tai_offset_sec,
        "mono_ns": instant.mono_ns,
        "ticks": instant.ticks,
        "esterror_ns": instant.esterror_ns,
        "maxerror_ns": instant.maxerror_ns,
        "utc_maxerror_ns": instant.utc_maxerror_ns,
        "leap_sec": instant.leap_sec,
        "status": instant.status.name,
    }


def _print_table(document: dict) -> None:
    offset = document["tai_offset_sec"]
    rows = {
        "UTC": document["utc"],
        "since 1970": f"{document['utc_ns']:,} ns",
        "TAI - UTC": "not set in the kernel" if offset is None else f"{offset} s",
        "monotonic": f"{document['mono_ns']:,} ns",
        "counter": f"{document['ticks']:,} ticks",
        "off CLOCK_REALTIME": _realtime_error(document),
        "true UTC": _utc_bound(document),
        "status": document["status"],
    }
    width = max(map(len, rows))
    for name, value in rows.items():
        print(f"{name:<{width}}  {value}")


def _realtime_error(document: dict) -> str:
    from timebase.text.duration import show_error

    if document["status"] in NO_BOUND:
        return "no bound just now"
    return show_error(document["esterror_ns"], document["maxerror_ns"])


def _utc_bound(document: dict) -> str:
    from timebase.text.duration import show_duration

    if document["status"] in NO_BOUND:
        return "no bound just now"
    if document["utc_maxerror_ns"] >= NOBODY_KNOWS_NS:
        return "no bound: nobody keeps the kernel's clock right"
    return f"within {show_duration(document['utc_maxerror_ns'])}"
