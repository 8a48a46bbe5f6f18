# SPDX-License-Identifier: MIT
"""What a serial log says of a scenario's tests and steps. Silence is a failure."""

import pathlib
import re

from lab import ROOT, say

SKIPPED = 77  # what a test exits with that cannot run there
TAIL = 6000  # letters of a bad guest's log that are shown
DONE = re.compile(r"^guest: done$", re.MULTILINE)
TEST = re.compile(r"^guest: (?!step )(\S+) (\d+)$", re.MULTILINE)
STEP = r"^guest: step {number} begins$(.*?)^guest: step {number} (\d+)$"
UP = re.compile(r"^guest: up (\S+)", re.MULTILINE)
# What a kernel prints when something of the scenario's has harmed it.
KERNEL_COMPLAINTS = re.compile(
    r"^.*(?:BUG:|Oops|general protection|Call Trace|WARNING: CPU).*$", re.MULTILINE
)


def judge(scenario, tests, log):
    """How many passed, failed and were skipped."""
    text = log.read_text(errors="replace").replace("\r", "")
    results = {program: int(status) for program, status in TEST.findall(text)}
    asked = {pathlib.Path(test["cmd"][0]).name for test in tests}
    faults = [f"{program} failed ({results[program]})" for program in sorted(_failed(results))]
    faults += [f"nothing was heard of {program}" for program in sorted(asked - set(results))]
    for number, step in enumerate(scenario.steps, 1):
        faults += _faults_of_step(number, step, text)
    faults += [f"the kernel complains: {line}" for line in KERNEL_COMPLAINTS.findall(text)[:1]]
    if not DONE.search(text):
        faults.append(f"it did not come to its end; the log is {log.relative_to(ROOT)}")
    skipped = sum(status == SKIPPED for status in results.values())
    passed = max(0, len(asked) + len(scenario.steps) - skipped - len(faults))
    _tell(scenario.name, text, faults, passed, skipped)
    return passed, len(faults), skipped


def _failed(results):
    return {program for program, status in results.items() if status not in (0, SKIPPED)}


def _faults_of_step(number, step, text):
    found = re.search(STEP.format(number=number), text, re.MULTILINE | re.DOTALL)
    what = f"step {number} ({step.run.strip().splitlines()[0]})"
    if found is None:
        return [f"{what}: did not end"]
    printed, status = found.groups()
    if status != "0":
        return [f"{what}: exit {status}"]
    for pattern in step.see:
        if not re.search(pattern, printed, re.MULTILINE):
            return [f"{what}: printed nothing like {pattern!r}"]
    for pattern in step.not_see:
        if re.search(pattern, printed, re.MULTILINE):
            return [f"{what}: printed {pattern!r}"]
    return []


def _tell(name, text, faults, passed, skipped):
    if faults:
        say(text[-TAIL:])
    for fault in faults:
        say(f"guests: {name}: {fault}")
    ups = UP.findall(text)
    say(
        f"guests: {name}: {passed} passed, {len(faults)} failed, {skipped} skipped; "
        f"up from {' to '.join(ups)} s"
    )
