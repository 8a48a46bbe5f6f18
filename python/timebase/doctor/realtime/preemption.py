# SPDX-License-Identifier: MIT
"""When a thread that becomes due may interrupt the kernel itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from timebase.doctor.finding import Finding, Findings
from timebase.doctor.realtime.kernel import Kernel
from timebase.doctor.tree import Tree

MODELS = ("none", "voluntary", "lazy", "full", "rt")


@dataclass(frozen=True)
class Preemption:
    model: str | None  # one of MODELS
    source: str | None


def read(tree: Tree, kernel: Kernel) -> Preemption:
    version = kernel.version or ""
    if tree.text("/sys/kernel/realtime") == "1":
        return Preemption("rt", "/sys/kernel/realtime")
    if "PREEMPT_RT" in version:
        return Preemption("rt", "uname -v")
    chosen = re.search(r"\((\w+)\)", tree.text("/sys/kernel/debug/sched/preempt") or "")
    if chosen and chosen[1] in MODELS:
        return Preemption(chosen[1], "/sys/kernel/debug/sched/preempt")
    for word in reversed(kernel.parameter("preempt")):
        if word.partition("=")[2] in MODELS:
            return Preemption(word.partition("=")[2], "the kernel's command line")
    return _built_in(kernel, version)


def _built_in(kernel: Kernel, version: str) -> Preemption:
    """The model chosen when the kernel was built. It is in force unless another one was chosen at
    run time."""
    built = {
        "PREEMPT_RT": "rt",
        "PREEMPT_NONE": "none",
        "PREEMPT_VOLUNTARY": "voluntary",
        "PREEMPT_LAZY": "lazy",
        "PREEMPT": "full",
    }
    for option, model in built.items():
        if kernel.option(option) == "y":
            return Preemption(model, kernel.options_source)
    # Without PREEMPT_DYNAMIC the version's word is the model; with it the word says nothing.
    if "PREEMPT" in version.split():
        return Preemption("full", "uname -v")
    return Preemption(None, None)


JUDGEMENTS = {
    "rt": ("ok", "runs at once, nearly always (PREEMPT_RT)"),
    "full": ("ok", "runs at once, mostly (full preemption)"),
    "lazy": ("ok", "runs at once, mostly (lazy preemption)"),
    "voluntary": ("info", "waits for a voluntary break (voluntary preemption)"),
    "none": ("warning", "waits until that system call is over (no preemption)"),
}


def judge(preemption: Preemption) -> Findings:
    if preemption.model is None:
        yield Finding(
            "preemption",
            "info",
            "The kernel's preemption model is unknown.",
            "As root: mount -t debugfs none /sys/kernel/debug; cat /sys/kernel/debug/sched/preempt.",
        )
        return
    severity, what = JUDGEMENTS[preemption.model]
    yield Finding(
        "preemption",
        severity,
        f"A real-time thread that wakes up while its CPU is busy in the kernel {what}, says "
        f"{preemption.source}.",
        ""
        if severity == "ok"
        else "Start the kernel with preempt=full, or take one with PREEMPT_RT. It matters to "
        "sleeping waits; one that polls in time is already on its CPU.",
    )
