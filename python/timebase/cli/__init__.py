# SPDX-License-Identifier: MIT
"""The program `timebase`: one file per verb, and a table of them.

Exit codes: 0 done (doctor: ready), 1 not ready or failed, 2 wrong input. status has its own.
"""

from __future__ import annotations

import sys

from timebase.api.errors import EnvironmentVariableError, InputError, TimebaseError

FAILED, WRONG_INPUT = 1, 2


def _complain(text: str) -> None:
    print(f"timebase: {text}", file=sys.stderr)


def main() -> None:
    try:
        from timebase.cli.verbs import program
    except ModuleNotFoundError as missing:
        if missing.name != "typer":
            raise
        _complain("the command line needs typer and rich: pip install 'timebase[cli]'")
        sys.exit(FAILED)
    try:
        program()()
    except (InputError, EnvironmentVariableError) as problem:
        _complain(str(problem))
        sys.exit(WRONG_INPUT)
    except (TimebaseError, ImportError, OSError) as problem:
        _complain(str(problem))
        if advice := getattr(problem, "advice", None):
            _complain(f"→ {advice}")
        sys.exit(FAILED)
