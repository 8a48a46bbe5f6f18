# SPDX-License-Identifier: MIT
"""Calendars for the tests of `timebase run`: written, run within this process, compiled for."""

import json
import os
import shutil
import subprocess
import sys
import textwrap

import jsonschema
import pytest

from timebase import schemas
from timebase.run.source import CalendarFileError

# A shared machine's other load may sit on one CPU at a real-time priority: nothing here asks for
# one, nor asserts when anything happened.
CPU = min(os.sched_getaffinity(0))
HEAD = f"[calendar]\ncpu = {CPU}\nrealtime = false\n"
PROGRAM = [sys.executable, "-c", "from timebase.cli import main; main()", "run"]
# Once `begun` is there, its program ends by itself, although the signal that stops the run may find
# it still at work.
ENDLESS = """
    [[unit]]
    name = "told"
    duration = "10ms"
    kill_after = "1h"
    command = ["sh", "-c", "trap '' TERM; exec touch begun"]

    [[unit]]
    name = "a"
    ready = "20ms"
    period = "2ms"
    duration = "1us"
    none = true
"""
ONCE = '[[unit]]\nname = "a"\nduration = "1us"\nnone = true\n'


def write_calendar(folder, units, head=HEAD, more=""):
    """The file, with `more` lines in [calendar]."""
    path = folder / "calendar.toml"
    path.write_text(head + textwrap.dedent(more) + textwrap.dedent(units), encoding="utf-8")
    return path


def ready(path):
    """A session that has not begun."""
    from timebase.run.description import describe
    from timebase.run.ready import make_ready
    from timebase.run.session import Session

    about = describe(path)
    return Session(about, make_ready(about))


def run_calendar(path, look=lambda session: None):
    """What `run --json` would write; `look` is called now and then during the run."""
    from timebase.run.admission import is_admitted
    from timebase.run.outcome import outcome

    session = ready(path)
    session.run(lambda running: is_admitted(running.dispatcher.problems), look)
    document = outcome(session)
    assert document["admitted"], document["problems"]
    return document


def unit_of(document, name):
    return next(unit for unit in document["units"] if unit["name"] == name)


def compile_library(folder, source, name="work.so"):
    """A shared object, or a skip where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler here to make a shared object with")
    file = folder / "work.c"
    file.write_text(textwrap.dedent(source), encoding="utf-8")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(folder / name), str(file)], check=True
    )
    return folder / name


def valid(document):
    """As it would be written."""
    document = json.loads(json.dumps(document))
    jsonschema.Draft202012Validator(schemas.load("run")).validate(document)
    return document


def run_units(folder, units, more=""):
    document = valid(run_calendar(write_calendar(folder, units, more=more)))
    assert document["admitted"], document["problems"]
    return document


def refusal(folder, units):
    with pytest.raises(CalendarFileError) as complaint:
        run_calendar(write_calendar(folder, units))
    return str(complaint.value)
