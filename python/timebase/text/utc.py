# SPDX-License-Identifier: MIT
"""UTC as people and programs write it."""

from __future__ import annotations

from datetime import datetime, timezone


def iso_utc(utc_ns: int) -> str:
    """2026-11-21T01:02:03.123456789Z"""
    seconds, ns = divmod(utc_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}.{ns:09d}Z"
