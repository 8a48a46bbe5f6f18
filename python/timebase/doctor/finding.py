# SPDX-License-Identifier: MIT
"""What the doctor says: one sentence on one thing, how bad it is, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

SEVERITIES = ("critical", "warning", "info", "ok")


@dataclass(frozen=True)
class Finding:
    """`severity`: ok, info, warning (works, with limits), critical (do not use the counter)."""

    id: str
    severity: str
    text: str
    advice: str = ""


Findings = Iterator[Finding]
