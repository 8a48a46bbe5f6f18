# SPDX-License-Identifier: MIT
"""What the processor and the process have for the last nanoseconds of a wait."""

from __future__ import annotations

import re
from dataclasses import dataclass

from timebase.api.counter import Counter
from timebase.doctor.finding import Finding, Findings
from timebase.doctor.tree import Tree

FINE_NS = 1.0  # counters with longer steps need several readings to tell an instant
# Of each processor: which line of /proc/cpuinfo, and what its words stand for, best first.
X86 = ("flags", {"waitpkg": "umwait, tpause", "mwaitx": "mwaitx"})
LIGHT_SLEEPS = {"x86_64": X86, "i686": X86, "aarch64": ("Features", {"wfxt": "wfet"})}
NO_LIGHT_SLEEP = ("ppc", "ppc64", "ppc64le", "s390x")


@dataclass(frozen=True)
class Instructions:
    shadow_stack: bool | None  # in force in this process
    light_sleep: bool | None  # an instruction that sleeps until a tick; None: not known
    light_sleep_name: str | None
    step_ticks: int
    step_ns: float


def read(tree: Tree, counter: Counter, machine: str) -> Instructions:
    light_sleep, name = _light_sleep(tree, machine)
    return Instructions(
        shadow_stack=_shadow_stack(tree, machine),
        light_sleep=light_sleep,
        light_sleep_name=name,
        step_ticks=counter.granularity_ticks,
        step_ns=counter.granularity_ticks * 1e9 / counter.frequency_hz,
    )


def _shadow_stack(tree: Tree, machine: str) -> bool | None:
    status = tree.text("/proc/self/status")
    if status is None:
        return None
    # Kernels without user shadow stacks have no such line, and other processors another one.
    found = re.search(r"^x86_Thread_features:(.*)$", status, re.MULTILINE)
    if found:
        return "shstk" in found[1].split()
    return False if machine in ("x86_64", "i686") else None


def _light_sleep(tree: Tree, machine: str) -> tuple[bool | None, str | None]:
    if machine in NO_LIGHT_SLEEP:
        return False, None
    text = tree.text("/proc/cpuinfo")
    if machine not in LIGHT_SLEEPS or text is None:
        return None, None
    line, names = LIGHT_SLEEPS[machine]
    found = re.search(rf"^{line}\s*:(.*)$", text, re.MULTILINE)
    if not found:
        return None, None
    name = next((names[word] for word in names if word in found[1].split()), None)
    return name is not None, name


def judge(instructions: Instructions) -> Findings:
    if instructions.shadow_stack:
        yield Finding(
            "shadow-stack",
            "info",
            "A shadow stack guards this process: exact waits cannot overwrite a return address, and "
            "take the second best way.",
            "Start it with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off if the last nanosecond counts.",
        )
    if instructions.light_sleep is None:
        text = "Whether the processor can sleep lightly until a tick is unknown."
    elif instructions.light_sleep:
        text = f"The processor can sleep lightly until a tick ({instructions.light_sleep_name})."
    else:
        text = "The processor has no light sleep that ends at a tick: waiting burns power."
    yield Finding("light-sleep", "ok" if instructions.light_sleep else "info", text)
    yield _step(instructions)


def _step(instructions: Instructions) -> Finding:
    text = f"The counter moves in steps of {instructions.step_ns:.3g} ns"
    if instructions.step_ns <= FINE_NS:
        return Finding("counter-step", "ok", f"{text}.")
    return Finding(
        "counter-step",
        "info",
        f"{text}: one reading tells an instant no better. Exact waits take several, and can be "
        "finer than a step.",
    )
