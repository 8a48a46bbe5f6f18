# SPDX-License-Identifier: MIT
"""Machines without an operating system, emulated, and the image of platform/baremetal in them.

machine.py   QEMU and Bochs: a boot, its serial log, its screen
log.py       a log as lines; whether it is whole
values.py    what the lines of an emulated machine must hold
boots.py     the boots there are: what each asks for, and what must be said
"""

import pathlib

HERE = pathlib.Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
IMAGES = ROOT / "build" / "image"
WORK = ROOT / "build" / "baremetal"


def say(text):
    print(text, flush=True)
