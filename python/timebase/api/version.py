# SPDX-License-Identifier: MIT
"""Of the installed package."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    return metadata.version("timebase")
