# SPDX-License-Identifier: MIT
"""Waits of several builds in one process: bench/by_turns.py."""

import os
import subprocess
import sys

import pytest
from daemons import ROOT

sys.path.insert(0, str(ROOT / "bench"))
import by_turns

PROGRAM = ROOT / "bench/by_turns.py"


def run(*arguments):
    return subprocess.run(
        [sys.executable, PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    "what, loops, kinds",
    [
        (
            "waits",
            ["loop"],
            ["exact", "steady", "plain", "result", "plain_result", "call", "plain_call"],
        ),
        (
            "delays",
            ["loop", "loop, called"],
            ["delay", "delay_steady", "delay_plain", "delay_after_empty"],
        ),
    ],
)
def test_all_ways_of_this_tree_have_all_their_trials(what, loops, kinds):
    done = run(what, "--blocks", 2)
    assert done.returncode == 0, done.stderr
    lines = [line.split("|") for line in done.stdout.splitlines()[2:]]
    assert [line[1].strip() for line in lines] == [
        "nothing",
        *loops,
        *(f"{kind}, this tree" for kind in kinds),
    ]
    assert {line[2].strip() for line in lines} == {"400"}  # 4 processes


def test_one_reading_is_a_stopwatch_too():
    done = run("waits", "--blocks", 2, "--processes", 1, "--counter", "--kind", "exact")
    assert done.returncode == 0, done.stderr
    assert "| exact, this tree | 100 |" in done.stdout


@pytest.mark.parametrize("work", ["lines", "memory", "pause"])
def test_a_program_may_work_between_its_waits(work):
    done = run("waits", "--blocks", 1, "--processes", 2, "--work", work, "--kind", "exact")
    assert done.returncode == 0, done.stderr
    assert "| exact, this tree | 100 |" in done.stdout


def test_another_program_may_use_the_cpu_beside_it():
    done = run("waits", "--blocks", 1, "--processes", 1, "--beside", "--kind", "exact")
    if len(os.sched_getaffinity(0)) == 1:
        assert done.returncode == 1
        assert "there is no other CPU" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert "| exact, this tree | 50 |" in done.stdout


def test_work_that_it_does_not_know_is_refused():
    done = run("waits", "--work", "sleep")
    assert done.returncode != 0
    assert "'sleep'" in done.stderr


def test_each_process_has_a_bias():
    done = run("waits", "--biases", "--blocks", 2, "--processes", 2, "--kind", "plain")
    assert done.returncode == 0, done.stderr
    assert "2 processes" in done.stdout
    assert done.stdout.count(" / ") == 4 * 4


def test_biases_are_told_by_their_order():
    assert by_turns.bias_row("it", [3, 1, 2, 5, 4]) == "| it | +1.0 / +1.0 / +3.0 / +5.0 / +5.0 |"


def test_the_mean_is_of_the_middle():
    errors = [-1e9] + [1.0] * 3 + [2.0] * 3 + [1e9]
    assert by_turns.middle_mean(errors) == 1.5


def test_another_library_takes_its_turns_and_first_ones_have_their_rows():
    done = run("delays", "--blocks", 1, "--processes", 2, "--positions", "--against", by_turns.HERE)
    assert done.returncode == 0, done.stderr
    assert f"| delay, {by_turns.HERE} | 100 |" in done.stdout
    ways = 3 + 2 * len(by_turns.KINDS["delays"])  # nothing, both loops, and each kind of both
    assert done.stdout.count("number 2 of a block | 2 |") == ways


@pytest.mark.parametrize("what", ["no-such-commit", "/dev/null/libtimebase.so"])
def test_what_is_neither_a_library_nor_a_commit_is_refused(what):
    done = run("--against", what)
    assert done.returncode != 0
    assert done.stderr == f"bench/by_turns.py: {what} is neither a library nor a commit\n"


def test_a_file_that_is_no_library_is_refused():
    done = run("--against", PROGRAM)
    assert done.returncode != 0
    assert "by_turns: " in done.stderr
    assert "Traceback" not in done.stderr


def test_each_process_has_a_median_of_its_own():
    assert list(by_turns.about_medians([[1, 2, 3], [7, 9, 8]])) == [-1, 0, 1, -1, 1, 0]


def test_quantiles_are_of_sizes():
    errors = [*range(-50, 51)]
    assert by_turns.quantiles(errors)[0] == 25
    assert by_turns.quantiles([1000.0] + [0.0] * 99)[-1] == 1000
    assert by_turns.quantiles([1000.0] + [0.0] * 199)[-1] == 0
