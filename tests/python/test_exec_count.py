# SPDX-License-Identifier: MIT
"""`timebase exec --count` and `--json`: who asked for the time, how often."""

import json
import re
import signal
from pathlib import Path

import jsonschema
import pytest
from programs import can_help, compiled

from timebase import schemas
from timebase.exec import count

__all__ = ["compiled"]  # a fixture

ROOT = Path(__file__).resolve().parents[2]
NOT_FOUND, WRONG_INPUT = 127, 2

CALLS = """
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct timespec now;
    struct timeval day;
    for (int i = 0; i < 100; i++) clock_gettime(CLOCK_MONOTONIC, &now);
    for (int i = 0; i < 10; i++) gettimeofday(&day, 0);
    if (fork() == 0) {
        for (int i = 0; i < 1000; i++) clock_gettime(CLOCK_BOOTTIME, &now);
        _exit(0);
    }
    wait(0);
    if (argc > 1) *(volatile int *)argv[argc] = 1;
    return 5;
}
"""


def counted(document):
    return {(row["function"], row["clock"]): row["calls"] for row in document["callers"]}


@can_help
@pytest.mark.parametrize("more", [(), ("--always",)], ids=["kernel", "always"])
def test_calls_are_counted_by_function_clock_and_caller(timebase_command, compiled, tmp_path, more):
    program, file = compiled(CALLS), tmp_path / "counts.json"
    outcome = timebase_command("exec", *more, "--json", str(file), "--", str(program))
    document = json.loads(file.read_text())
    jsonschema.Draft202012Validator(schemas.load("exec")).validate(document)
    assert (outcome.code, document["exit_code"]) == (5, 5)
    assert counted(document) == {
        ("clock_gettime", "MONOTONIC"): 100,
        ("gettimeofday", "REALTIME"): 10,
        ("clock_gettime", "BOOTTIME"): 1000,
    }
    assert all(row["caller"].startswith("program+0x") for row in document["callers"])
    assert document["calls"] == 1110


@can_help
def test_counts_survive_a_program_that_is_killed(timebase_command, compiled, tmp_path):
    file = tmp_path / "counts.json"
    outcome = timebase_command("exec", "--json", str(file), str(compiled(CALLS)), "now")
    assert outcome.code == -signal.SIGSEGV
    assert counted(json.loads(file.read_text()))["clock_gettime", "MONOTONIC"] == 100


@can_help
def test_the_summary_is_on_standard_error(timebase_command, compiled):
    outcome = timebase_command("exec", "--count", str(compiled(CALLS)))
    assert (outcome.code, outcome.out) == (5, "")
    assert "1,110 calls" in outcome.err
    assert "clock_gettime BOOTTIME program+0x" in outcome.err


@can_help
def test_programs_that_it_starts_are_counted_apart(timebase_command, compiled, tmp_path):
    program, file = compiled(CALLS), tmp_path / "counts.json"
    timebase_command("exec", "--json", str(file), "sh", "-c", f"{program}; {program}")
    rows = json.loads(file.read_text())["callers"]
    assert len({row["program"] for row in rows if row["clock"] == "MONOTONIC"}) == 2


def test_what_cannot_be_counted_runs_all_the_same(timebase_command, compiled):
    outcome = timebase_command(
        "exec", "--count", str(compiled("int main(void) { return 3; }", "-static"))
    )
    assert outcome.code == 3
    assert "nothing is counted: " in outcome.err


def test_counting_needs_a_program_and_a_place(timebase_command, tmp_path):
    assert timebase_command("exec", "--count").code == WRONG_INPUT
    assert timebase_command("exec", "--json", str(tmp_path), "true").code == WRONG_INPUT
    assert timebase_command("exec", "--count", "no-such-program").code == NOT_FOUND


def test_of_all_programs_together():
    rows = [
        count.Row(1, "time", "REALTIME", "sh+0x1", 1, 10),
        count.Row(2, "time", "REALTIME", "sh+0x1", 2, 20),
        count.Row(2, "ftime", "REALTIME", "sh+0x1", 9, 90),
    ]
    merged = count.by_caller(rows)
    assert [(row.function, row.calls, row.ticks) for row in merged] == [
        ("ftime", 9, 90),
        ("time", 3, 30),
    ]


def test_the_layout_is_that_of_the_header():
    header = (ROOT / "src/preload/counts.h").read_text()
    assert f"{count.MAGIC:#x}" in header.lower()
    assert f"COUNTS_SLOTS {count.SLOTS}\n" in header
    names = re.findall(r"COUNTED_(\w+)", header)[: len(count.FUNCTIONS) - 1]
    assert tuple(name.lower() for name in names) == count.FUNCTIONS[1:]
