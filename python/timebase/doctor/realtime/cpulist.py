# SPDX-License-Identifier: MIT
"""The kernel's way to write a set of CPUs: "0-3,8"."""

from __future__ import annotations


def parse(text: str | None) -> tuple[int, ...] | None:
    """None for what is not such a list, and for None. The kernel writes an empty one in two ways."""
    if text is None:
        return None
    if text.strip() in ("", "(null)"):
        return ()
    cpus: set[int] = set()
    for part in text.strip().split(","):
        first, dash, last = part.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            return None
        cpus.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(cpus))


def show(cpus: tuple[int, ...]) -> str:
    """The list that parse() reads; "none" for people if it is empty."""
    runs: list[list[int]] = []
    for cpu in cpus:
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(f"{a}-{b}" if a != b else f"{a}" for a, b in runs) or "none"
