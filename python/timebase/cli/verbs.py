# SPDX-License-Identifier: MIT
"""The table of verbs."""

from __future__ import annotations

import typer

from timebase.cli.accuracy import accuracy
from timebase.cli.bench import bench
from timebase.cli.convert import convert
from timebase.cli.cpus import cpus
from timebase.cli.doctor import doctor
from timebase.cli.exec import exec
from timebase.cli.now import now
from timebase.cli.report import report
from timebase.cli.run import run
from timebase.cli.status import Probe, status
from timebase.cli.watch import watch

VERBS = (now, doctor, cpus, exec, status, watch, bench, accuracy, run, report, convert)
KINDS = {status: Probe}  # verbs with exit codes of their own
# What follows the name of a program is the program's.
SETTINGS = {exec: {"allow_interspersed_args": False}}


def _show_version(wanted: bool) -> None:
    if wanted:
        from timebase import __version__

        print(f"timebase {__version__}")
        raise typer.Exit()


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """The time from the processor's own counter: can it be trusted, and what does it cost?"""


def program() -> typer.Typer:
    # Rich would take "[default: 1s]" in a help text for markup of its own, and leave it out.
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for verb in VERBS:
        app.command(cls=KINDS.get(verb), context_settings=SETTINGS.get(verb))(verb)
    return app
