# SPDX-License-Identifier: MIT
"""What the machine is fit for: one answer for each of the uses that doctor looks at."""

from __future__ import annotations

READING, SHARING, BEGINNING = (
    "reading the time",
    "sharing a clock between processes",
    "work at an exact instant",
)
# By the worst finding of a use; without a critical one or a warning it is fit.
ANSWERS = {"critical": "no", "warning": "with limits"}


def conclude(findings: dict[str, list[dict]]) -> list[dict]:
    """`findings` of each use, worst first."""
    return [_conclusion(use, found) for use, found in findings.items()]


def _conclusion(use: str, findings: list[dict]) -> dict:
    for severity, answer in ANSWERS.items():
        reasons = [finding["text"] for finding in findings if finding["severity"] == severity]
        if reasons:
            return {"use": use, "answer": answer, "reasons": len(reasons), "first": reasons[0]}
    return {"use": use, "answer": "yes", "reasons": 0, "first": None}
