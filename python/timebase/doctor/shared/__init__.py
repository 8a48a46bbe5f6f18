# SPDX-License-Identifier: MIT
"""The clock that processes share: is a daemon there, is its page safe, does chrony fit.

page.py, chrony.py and drift.py each look at one thing and say what follows. None of this makes a
machine not ready: without a daemon every process keeps a clock of its own.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from timebase.doctor.findings import SEVERITIES
from timebase.doctor.realtime.tree import Tree
from timebase.doctor.shared import chrony, drift, page

__all__ = ["examine"]


def examine(tree: Tree | None = None, page_path: Path | None = None) -> dict:
    """What `doctor --json` prints as "shared"."""
    tree = tree or Tree()
    looked = page.look(page_path)
    configuration, ours = chrony.read(tree), drift.read(tree)
    findings = [
        *page.judge(looked),
        *chrony.judge(configuration),
        *drift.judge(ours, configuration, looked.is_there),
    ]
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return {
        "page": asdict(looked),
        "chrony": asdict(configuration) if configuration else None,
        "drift": asdict(ours),
        "findings": [asdict(finding) for finding in findings],
    }
