# SPDX-License-Identifier: MIT
"""All that `timebase doctor --json` prints."""

from __future__ import annotations

from dataclasses import asdict

from timebase.doctor.conclusions import BEGINNING, READING, SHARING, conclude
from timebase.doctor.facts import gather
from timebase.doctor.findings import judge
from timebase.doctor.realtime.examine import examine as examine_realtime
from timebase.doctor.shared.examine import examine as examine_shared


def examine(cpu: int | None = None) -> dict:
    """Everything `doctor --json` prints. Takes some 0.5 s. `cpu`: which one is to be punctual."""
    facts = gather()
    findings = [asdict(finding) for finding in judge(facts)]
    shared, realtime = examine_shared(), examine_realtime(facts.counter, cpu)
    uses = {
        READING: findings,
        SHARING: shared["findings"],
        BEGINNING: realtime["findings"],
    }
    return {
        "ready": all(finding["severity"] != "critical" for finding in findings),
        "conclusions": conclude(uses),
        "machine": facts.machine,
        "counter": asdict(facts.counter),
        "clock": facts.clock,
        "ntp": asdict(facts.ntp) if facts.ntp else None,
        "time_namespace": asdict(facts.time_namespace) if facts.time_namespace else None,
        "calls": facts.calls,
        "references": facts.timers,
        "findings": findings,
        "shared": shared,
        "realtime": realtime,
    }
