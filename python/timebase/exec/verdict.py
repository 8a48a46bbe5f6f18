# SPDX-License-Identifier: MIT
"""Is a program helped, and if not, why? Each reason is a word for programs and a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Callable

from timebase.exec.clocks import Clocks
from timebase.exec.program import Program

ONLY_THE_MODULE = "Only the kernel module helps it (docs/guide/resync.md)"
GLIBC = "ld-linux"  # part of its loader's name


@dataclass(frozen=True)
class Verdict:
    """`library` is what to put before the C library; None: the program is started as it is."""

    reason: str
    text: str
    library: str | None = None
    is_loss: bool = False  # there would be something to gain, but not for this program


def judge(
    program: Program | None,
    clocks: Clocks,
    library_of: Callable[[int], str | None],
    always: bool = False,
) -> Verdict:
    """Without a program: what holds for any."""
    verdict = _of_machine(clocks, always)
    if verdict is not None or program is None:
        return verdict or Verdict("helps", _dear(clocks))
    verdict = _of_program(program)
    if verdict is not None:
        return verdict
    library = library_of(program.bits)
    if library is None:
        return _loss(
            "no-library",
            f"{program.image} is a {program.bits}-bit program, and no {program.bits}-bit "
            f"libtimebase-preload.so is installed. {_remedy(program.bits)}",
        )
    if any(sign in library for sign in " :"):
        return _loss("no-library", f"{library}: LD_PRELOAD takes no path with a blank or a colon")
    text = f"{_dear(clocks)} {PurePath(program.path).name} reads it by the counter."
    return Verdict("helps", text, library)


def _remedy(bits: int) -> str:
    if bits == 32:
        return "On Debian, install libtimebase-preload:i386 (docs/guide/resync.md)"
    return "On Debian, install libtimebase-preload (docs/guide/resync.md)"


def _dear(clocks: Clocks) -> str:
    return (
        f"The kernel keeps time by {clocks.clocksource or 'an unknown clocksource'}, and a reading "
        f"takes {clocks.kernel_ns:,} ns more than one that needs no counter."
    )


def _of_machine(clocks: Clocks, always: bool) -> Verdict | None:
    if not clocks.is_readable:
        return Verdict(
            "no-counter", f"The counter that this process reads is {clocks.counter}: only that of x86 "
            "processors is known to be given up by kernels."
        )  # fmt: skip
    if not always and not clocks.is_dear:
        return Verdict(
            "kernel-is-quick",
            f"The kernel keeps time by {clocks.clocksource or 'an unknown clocksource'}, and a "
            f"reading takes only {clocks.kernel_ns} ns more than one that needs no counter: there is "
            "nothing to gain.",
        )
    if not always and clocks.may_stop:
        return _loss(
            "counter-may-stop",
            "The processor does not promise that its counter goes on in idle. Only the kernel can "
            "know when it stopped (docs/guide/resync.md)",
        )
    return None


def _of_program(program: Program) -> Verdict | None:
    name = program.image
    if program.gains_rights:
        return _loss(
            "gains-rights",
            f"{name} runs with other rights than its caller's (set-user-ID, set-group-ID or "
            f"capabilities): the loader puts no library before its own. {ONLY_THE_MODULE}",
        )
    if program.bits is None:
        return _loss("no-elf", f"{name} is no ELF program of this processor that can be read")
    if program.is_go:
        return _loss(
            "go", f"{name} was made by Go, which calls the kernel's code itself, without the C "
            f"library. {ONLY_THE_MODULE}"
        )  # fmt: skip
    if program.loader is None:
        return _loss(
            "static",
            f"{name} is static: no library comes before its own copy of the C library's functions. "
            f"{ONLY_THE_MODULE}",
        )
    if GLIBC not in PurePath(program.loader).name:
        return _loss(
            "other-c-library",
            f"{name} is for another C library than glibc (its loader is {program.loader}). "
            f"{ONLY_THE_MODULE}",
        )
    return None


def _loss(reason: str, text: str) -> Verdict:
    return Verdict(reason, text.rstrip(".") + ".", is_loss=True)
