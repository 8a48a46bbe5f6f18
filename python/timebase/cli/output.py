# SPDX-License-Identifier: MIT
"""How verbs speak: JSON on standard output, or tables; progress and complaints on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Callable

import typer

JSON_OPTION = typer.Option(False, "--json", help="Print JSON (docs/json.md) instead of a table.")


def print_json(document: dict) -> None:
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def require_modules(verb: str, *modules: str) -> None:
    """TimebaseError naming what is not installed."""
    from importlib.util import find_spec

    from timebase.api.errors import MissingModulesError

    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise MissingModulesError(f"timebase {verb}", missing)


@contextmanager
def progress_bars(total: float) -> Iterator[Callable[[str, float], Callable[[float], None]]]:
    """Gives start(description, weight), which gives a function to be told the share done.

    One bar for the whole, on stderr, and only for a person: nothing if stderr is not a terminal.
    """
    if not sys.stderr.isatty():
        yield lambda description, weight: lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("", total=total)
        done = 0.0

        def start(description: str, weight: float) -> Callable[[float], None]:
            nonlocal done
            base = done
            done += weight
            bars.update(bar, description=description, completed=base)
            return lambda share: bars.update(bar, completed=base + weight * share)

        yield start
