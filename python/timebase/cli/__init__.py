# SPDX-License-Identifier: MIT
"""The program `timebase`: one file per verb, and a table of them.

Exit codes: 0 done (doctor: ready), 1 not ready or failed, 2 wrong input. status has its own.
"""

from __future__ import annotations

import os
import sys

from timebase.api.errors import (
    EnvironmentVariableError,
    InputError,
    MissingModulesError,
    TimebaseError,
)

FAILED, WRONG_INPUT = 1, 2


def _complain(problem: object) -> None:
    print(f"timebase: {problem}", file=sys.stderr)
    if advice := getattr(problem, "advice", None):
        print(f"timebase: → {advice}", file=sys.stderr)


def _words(problem: OSError) -> str:
    """Without "[Errno 2]", and the file first."""
    if problem.strerror is None:
        return str(problem)
    return f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror


def _open_what_is_closed() -> None:
    """Who closes an output wants nothing said there; nor may a file that is opened take its place."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _escape_what_cannot_be_encoded() -> None:
    """Where ± and µ are no characters they are told as \\xb1 and \\xb5, and not as any other's sign."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")


def _finish_output() -> None:
    """Here, not when the interpreter ends: what cannot be written is a failure like any other."""
    try:
        sys.stdout.flush()
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is left of it
        if not isinstance(problem, BrokenPipeError):
            raise
        sys.exit(FAILED)


def _run() -> None:
    from timebase.cli.verbs import program

    try:
        program()()
    finally:
        _finish_output()


def main() -> None:
    _open_what_is_closed()
    _escape_what_cannot_be_encoded()
    try:
        import timebase.cli.verbs  # noqa: F401
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        _complain(MissingModulesError("the command timebase", ["typer", "rich"]))
        sys.exit(FAILED)
    try:
        _run()
    except (InputError, EnvironmentVariableError) as problem:
        _complain(problem)
        sys.exit(WRONG_INPUT)
    except OSError as problem:
        _complain(_words(problem))
        sys.exit(FAILED)
    except (TimebaseError, ImportError) as problem:
        _complain(problem)
        sys.exit(FAILED)
