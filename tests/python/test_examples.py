# SPDX-License-Identifier: MIT
"""The small programs to copy from: what they print is true, and in units that are read."""

import re
import subprocess
import sys

import pytest
from daemons import ROOT

EXAMPLES = ROOT / "examples"
# work.py is a module of units: tests/python/test_run_functions.py.
PROGRAMS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name != "work.py")
BUILT = ROOT / "build/native/examples"


def printed(name):
    """By the program in Python, or by the one in C if it has been built."""
    command = [sys.executable, EXAMPLES / name]
    if not name.endswith(".py"):
        command = [BUILT / f"example-{name.removesuffix('.c')}"]
        if not command[0].exists():
            pytest.skip("scripts/build native has not made the examples")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_those_in_python_run(name):
    assert printed(name)


@pytest.mark.parametrize("name", ["now.c", "now.py"])
def test_bounds_have_units_that_are_read(name):
    """Where no NTP runs it is 16 s: 16000501021 ns is not seen to be that."""
    said = printed(name)
    assert re.search(r"\+/- \d+\.\d{3} us from the system clock", said)
    assert re.search(r"\+/- \d+\.\d{3} ms from true UTC, as the system clock says of itself", said)


def test_a_bound_against_the_system_clock_is_not_said_to_be_of_utc():
    said = printed("stamp_and_convert.c")
    assert len(re.findall(r"\+/- \d+ from the system clock", said)) == 5
    assert "UTC +/-" not in said


@pytest.mark.parametrize("name", ["commit_wait.c", "commit_wait.py"])
def test_without_a_promise_both_say_so_and_end_alike(name):
    """Or the time is promised here, and both commit."""
    assert re.search(r"no bound below 50 ms: |committed at \d+", printed(name))
