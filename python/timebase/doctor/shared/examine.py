# SPDX-License-Identifier: MIT
"""All questions together."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from timebase.doctor.finding import SEVERITIES
from timebase.doctor.shared import chrony, drift, page, place
from timebase.doctor.tree import Tree


def examine(tree: Tree | None = None, page_path: Path | None = None) -> dict:
    """What `doctor --json` prints as "shared"."""
    path = place.DEFAULT if tree else place.configuration()
    tree = tree or Tree()
    looked = page.look(page_path)
    configuration, ours = chrony.read(tree), drift.read(tree, path)
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
