# SPDX-License-Identifier: MIT
"""Starts a program in the place of this one, or beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from timebase.exec.program import NOT_EXECUTABLE, NOT_FOUND, Program, ProgramError
from timebase.exec.verdict import Verdict

PRELOAD = "LD_PRELOAD"
MODE = "TIMEBASE_PRELOAD"


def environment_of(
    verdict: Verdict, given: Mapping[str, str], mode: str | None = None
) -> dict[str, str]:
    """Ours comes last: another library that changes the time still has its way."""
    environment = dict(given)
    if verdict.library is None:
        return environment
    others = given.get(PRELOAD, "").replace(":", " ").split()
    if verdict.library not in others:
        environment[PRELOAD] = ":".join([*others, verdict.library])
    if mode is not None:
        environment[MODE] = mode
    return environment


def refusal_of(program: Program, problem: OSError) -> ProgramError:
    """As a shell has it. The file was there: what is not found is what would run it."""
    if not isinstance(problem, FileNotFoundError):
        return ProgramError(f"{program.path}: {problem.strerror}", NOT_EXECUTABLE)
    runner = program.loader or program.image
    return ProgramError(f"{program.path}: its interpreter {runner} was not found", NOT_FOUND)


def become(program: Program, words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Never returns; ProgramError if the kernel does not take it."""
    try:
        os.execve(program.path, list(words), dict(environment))
    except OSError as problem:
        raise refusal_of(program, problem) from None
