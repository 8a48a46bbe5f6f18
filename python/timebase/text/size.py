# SPDX-License-Identifier: MIT
"""Sizes of files for people: 16,384 bytes are "16.0 KiB"."""

from __future__ import annotations

UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def show_size(bytes_: float) -> str:
    for name, size in UNITS:
        if bytes_ >= size:
            return f"{bytes_ / size:,.1f} {name}"
    return f"{bytes_:.0f} bytes"
