# SPDX-License-Identifier: MIT
"""Costs of two runs of the bench, side by side. Another run is another moment: what neighbours do, and
where the linker put things, differs too. So a row is called slower or faster only if its whole range,
from minimum to 90th percentile, has left the other's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from timebase.api.errors import InputError

# What else has changed if it differs; the kernel's release alone does not make runs incomparable.
MACHINE = (
    "processor",
    "architecture",
    "cpus",
    "hypervisor",
    "counter",
    "kernel_clocksource",
    "kernel",
)
KEYS = ("min_ns", "median_ns", "p90_ns")


@dataclass(frozen=True)
class Change:
    name: str
    old: dict | None  # None: the other run had no such row
    new: dict | None

    @property
    def ratio(self) -> float | None:
        """Of the medians, new to old."""
        if self.old is None or self.new is None or not self.old["median_ns"]:
            return None
        return self.new["median_ns"] / self.old["median_ns"]

    @property
    def verdict(self) -> str:
        if self.old is None:
            return "new"
        if self.new is None:
            return "gone"
        if self.new["min_ns"] > self.old["p90_ns"]:
            return "slower"
        return "faster" if self.new["p90_ns"] < self.old["min_ns"] else ""


def read(path: Path) -> dict:
    """What `bench --json` has written. InputError says what is wrong with it."""
    try:
        document = json.loads(path.read_bytes())
        rows = [{"name": str(row["name"]), **_numbers(row)} for row in document["rows"]]
        machine = {key: document["machine"][key] for key in MACHINE}
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not what timebase bench --json writes") from None
    return {"machine": machine, "rows": rows}


def _numbers(row: dict) -> dict:
    return {key: float(row[key]) for key in KEYS}


def changes(old: dict, new: dict) -> list[Change]:
    """In the order of the new run; rows that are gone at the end."""
    before = {row["name"]: row for row in old["rows"]}
    found = [Change(row["name"], before.pop(row["name"], None), row) for row in new["rows"]]
    return found + [Change(name, row, None) for name, row in before.items()]


def differences(old: dict, new: dict) -> list[str]:
    """In what the machines differ: `kernel: 6.1 -> 6.2`."""
    return [
        f"{key.replace('_', ' ')}: {old['machine'][key]} -> {new['machine'][key]}"
        for key in MACHINE
        if old["machine"][key] != new["machine"][key]
    ]
