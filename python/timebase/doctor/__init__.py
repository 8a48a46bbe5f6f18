# SPDX-License-Identifier: MIT
"""Can this machine's clock be trusted? Facts (facts.py) and what follows from them (findings.py)."""

from __future__ import annotations

from dataclasses import asdict

from timebase.doctor.facts import Facts, gather
from timebase.doctor.findings import Finding, judge

__all__ = ["Facts", "Finding", "examine", "gather", "judge"]


def examine() -> dict:
    """Everything `doctor --json` prints. Takes some 50 ms."""
    facts = gather()
    findings = judge(facts)
    return {
        "ready": all(finding.severity != "critical" for finding in findings),
        "machine": facts.machine,
        "counter": asdict(facts.counter),
        "clock": facts.clock,
        "ntp": asdict(facts.ntp) if facts.ntp else None,
        "time_namespace": asdict(facts.time_namespace) if facts.time_namespace else None,
        "calls": facts.calls,
        "findings": [asdict(finding) for finding in findings],
    }
