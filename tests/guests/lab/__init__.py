# SPDX-License-Identifier: MIT
"""Machines of their own for tests: Debian's kernel in QEMU, with what a scenario puts into it.

scenario.py   what a file in scenarios/ may say
processor.py  whose kernels are booted, and in which machine of QEMU's
kernel.py     Debian's kernel and its headers; modules built against them
dkms.py       a module as DKMS builds it
foreign.py    kernels of other processors: Debian's, or built by built.py
apt.py        packages and sources of Debian's, for another processor
programs.py   what is built to run in a guest, and the libraries it opens
command.py    the command `timebase` for another processor, and a Python that runs it
image.py      the initramfs: tests, programs, modules, and the script that is process 1
boot.py       QEMU, and its serial log
judge.py      what the log says of tests and steps
"""

import pathlib

HERE = pathlib.Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "guests"
SCENARIOS = HERE / "scenarios"


def say(text):
    print(text, flush=True)
