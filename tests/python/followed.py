# SPDX-License-Identifier: MIT
"""Which commands of README, tutorial and guides are run as they are printed, and by which test.

What stands in a block marked `sh` is run. What stands elsewhere is named here."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [
    ROOT / "README.md",
    ROOT / "docs/tutorial.md",
    *sorted((ROOT / "docs/guide").glob("*.md")),
]

# Whose blocks are run one after the other, and what they say then: test_guides.py does it by this tree's
# daemon and command, tests/packages/test_newcomer.py in a fresh system.
FOLLOWED = {
    "docs/tutorial.md": ["off CLOCK_REALTIME", "off kernel", "±"],
    "docs/guide/simulate.md": ["OK: SYNCHRONIZED", "CRITICAL: True UTC", "WARNING: FREERUNNING"],
    "docs/guide/run.md": ["Admitted.", "disturbed"],
}
BY_THEIR_LANGUAGE = {
    "docs/guide/cpp.md": "bindings/cpp/check",
    "docs/guide/go.md": "bindings/go/internal/stand/guide_test.go",
    "docs/guide/rust.md": "bindings/rust/run-guide",
}

NEWCOMER = "tests/packages/test_newcomer.py"
SERVICE = "tests/packages/test_service.py"
# The beginning of a command: the test that runs it.
BY_A_TEST = {
    "make report": NEWCOMER,
    "meson setup": NEWCOMER,
    "meson install": NEWCOMER,
    "python3 -m venv /opt/timebase": NEWCOMER,
    "build/native/daemon/timebased --page": NEWCOMER,
    "scripts/setup base": NEWCOMER,
    "timebase cpus": NEWCOMER,
    "timebase doctor --cpu": "tests/python/test_cli.py",
    "timebase doctor": NEWCOMER,
    "timebase status": NEWCOMER,
    "timebase watch": NEWCOMER,
    "timebase now --page": NEWCOMER,
    "timebase convert --file": NEWCOMER,
    "timebase convert --boots": NEWCOMER,
    "timebase convert 123456789012345": "tests/python/test_convert.py",
    "... | timebase convert": NEWCOMER,
    "trace-cmd report": "tests/python/test_convert.py",
    "perf script": "tests/python/test_convert.py",
    "timebase accuracy": "tests/python/test_accuracy.py",
    "timebase bench --references": "tests/python/test_cli.py",
    "timebase exec": "tests/python/test_exec.py",
    "make deb": "tests/packages/test_packages.py",
    "apt-get install ./build/deb": "tests/packages/test_packages.py",
    "systemctl enable": SERVICE,
    "make image": "tests/baremetal/run",
    "qemu-system-x86_64": "tests/baremetal/run",
    "make module": "tests/guests/run",
    "insmod": "tests/guests/run",
    "cat /sys/kernel/timebase": "tests/guests/run",
    "apt-get install sbcl": "bindings/lisp/newcomer",
    "mkdir -p ~/common-lisp": "bindings/lisp/newcomer",
}
# Or why none does.
BY_NONE = {
    "docker run": "wants a container engine",
    "podman run": "wants a container engine",
    "lsblk": "shows the disks of the reader",
    "dd if=": "overwrites a disk",
    "stty": "wants a serial port",
    "cat /dev/ttyUSB0": "wants a serial port",
    "trace-cmd record": "wants the kernel's tracer",
    "perf record": "wants Intel PT",
    "python3 -m http.server": "Python's own",
    "example-power-keeper": "wants Power: tests/guests has it as keeper.c",
    "mount --bind": "wants Power, and its kernel's /proc/powerpc",
}

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = (
    "apt-get|brew|cat|chmod|chronyc|cp|dd|docker|go|insmod|lsblk|make|meson|mkdir|mount|perf|pip|podman"
    r"|python3|qemu-system-x86_64|stty|systemctl|timebased?|trace-cmd|(?:scripts|build)/\S+|example-\S+"
)
TYPED = re.compile(rf"^ {{4,}}(?:\$ |sudo )*((?:\.\.\. \| )?(?:{PROGRAMS})(?: .*)?)$", re.MULTILINE)


def blocks(text, language):
    """What is printed between the fences of that language."""
    return [block for name, block in FENCE.findall(text) if name == language]


def typed(text):
    """The commands that a text gives without a fence; not what they print."""
    return [line for line in TYPED.findall(FENCE.sub("", text)) if not re.match(r"\S+: ", line)]
