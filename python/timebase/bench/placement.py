# SPDX-License-Identifier: MIT
"""Where measurements run."""

from __future__ import annotations

import os
from contextlib import contextmanager


def allowed_cpus() -> list[int]:
    """The CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0))


def quiet_cpu() -> int:
    """The last CPU: the first ones usually serve more interrupts."""
    return allowed_cpus()[-1]


def may_run_on(cpu: int) -> bool:
    """Whether the calling thread can be put there, even if it is kept elsewhere now."""
    try:
        with pinned(cpu):
            return True
    except (OSError, ValueError, OverflowError):
        return False


@contextmanager
def pinned(cpu: int):
    """Keeps the calling thread on one CPU for the block."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
