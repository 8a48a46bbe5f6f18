# SPDX-License-Identifier: MIT
"""All that `timebase doctor --json` prints."""

from __future__ import annotations

from dataclasses import asdict

from timebase.doctor.facts import gather
from timebase.doctor.findings import judge
from timebase.doctor.realtime.examine import examine as examine_realtime
from timebase.doctor.shared.examine import examine as examine_shared


def examine(cpu: int | None = None) -> dict:
    """Everything `doctor --json` prints. Takes some 0.5 s. `cpu`: which one is to be punctual."""
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
        "shared": examine_shared(),
        "realtime": examine_realtime(facts.counter, cpu),
    }
