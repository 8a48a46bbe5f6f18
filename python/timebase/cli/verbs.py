# SPDX-License-Identifier: MIT
"""The table of verbs."""

from __future__ import annotations

import inspect

import typer
from typer.core import TyperArgument, TyperCommand
from typer.models import OptionInfo

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

# What the list of commands says of each: a line that fits 80 columns.
SHORT = {
    now: "The time now: UTC, TAI, monotonic, and their bounds.",
    doctor: "Can this machine's clock be trusted, and what to do if not?",
    cpus: "Each CPU's counter against the first one's.",
    exec: "Start a program that reads the kernel's clocks by the counter.",
    status: "Does the shared clock deserve trust? For monitoring.",
    watch: "A clock, live.",
    bench: "What each way to read the time costs.",
    accuracy: "How close to its target work begins.",
    run: "Begin units of work at their times, by a calendar.",
    report: "Measure this machine, and write a report as HTML.",
    convert: "Turn raw ticks into UTC, as readers were told then.",
}
VERBS = tuple(SHORT)
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


# Of annotations, which are text: what stands for a value. Else typer prints "<int range>".
VALUES = {
    "int": "N",
    "MaybeInt": "N",
    "Optional[int]": "N",
    "float": "X",
    "Path": "PATH",
    "MaybePath": "PATH",
    "bool": None,  # a flag
}


def _name_values() -> None:
    for verb in VERBS:
        for parameter in inspect.signature(verb).parameters.values():
            info = parameter.default
            if isinstance(info, OptionInfo) and info.metavar is None:
                info.metavar = VALUES.get(parameter.annotation, "TEXT")


_name_values()


class Verb(TyperCommand):
    """One whose arguments have no type in the help: typer prints "TICK <list[str]>"."""

    def __init__(self, *words, **settings):
        super().__init__(*words, **settings)
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                parameter.display_type_rich = lambda ctx: ""


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
        kind, settings = KINDS.get(verb, Verb), SETTINGS.get(verb)
        app.command(cls=kind, context_settings=settings, short_help=SHORT[verb])(verb)
    return app
