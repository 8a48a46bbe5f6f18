# SPDX-License-Identifier: MIT
"""timebase exec: a program that cannot be changed reads the time by the counter."""

from __future__ import annotations

import os
import sys
from typing import Optional

import typer

# typer evaluates annotations, and Python 3.9 does not know `list[str] | None`.
Words = Optional[list[str]]

FOLLOW = "always"


def exec(
    words: Words = typer.Argument(
        None, metavar="PROGRAM", help="What to start, with its arguments."
    ),
    why: bool = typer.Option(
        False, "--why", help="Say on standard error whether it is helped, and why (not)."
    ),
    always: bool = typer.Option(
        False, "--always", help="Also where the kernel's own reading is quick: for trials."
    ),
) -> None:
    """Start a program whose clock readings are by the counter, where the kernel's own are dear.

    Its exit code is the program's; 127: not found; 126: cannot be started; 2: wrong input.
    """
    from timebase.exec import clocks, libraries
    from timebase.exec.program import ProgramError, find
    from timebase.exec.verdict import judge

    if not words and not why:
        raise typer.BadParameter("name a program, or ask --why")
    try:
        program = find(words[0], os.environ) if words else None
        verdict = judge(program, clocks.look(), libraries.find, always)
        if why or verdict.is_loss:
            print(f"timebase exec: {verdict.reason}: {verdict.text}", file=sys.stderr, flush=True)
        if program is not None:
            _become(program, words, verdict, always)
    except ProgramError as problem:
        print(f"timebase exec: {problem}", file=sys.stderr)
        raise typer.Exit(problem.code) from None


def _become(program, words, verdict, always: bool) -> None:
    from timebase.exec.launch import become, environment_of

    environment = environment_of(verdict, os.environ, FOLLOW if always else None)
    sys.stdout.flush()
    become(program, words, environment)
