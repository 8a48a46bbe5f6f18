# SPDX-License-Identifier: MIT
"""`timebase exec`: programs of the system, what it says of those that it cannot help, exit codes."""

import dataclasses
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import BITS, can_help, compiled

from timebase.api.counter import probe
from timebase.exec import clocks as clocks_of
from timebase.exec import libraries
from timebase.exec.launch import environment_of
from timebase.exec.program import Program, ProgramError, find, look
from timebase.exec.verdict import Verdict, judge

__all__ = ["compiled"]  # a fixture

NOT_FOUND, NOT_EXECUTABLE, WRONG_INPUT = 127, 126, 2
ALWAYS = ("exec", "--why", "--always", "--")


def executable(path, content, mode=0o755):
    path.write_bytes(content)
    path.chmod(mode)
    return path


# ---- programs of the system --------------------------------------------------------------------------


@can_help
@pytest.mark.parametrize(
    "words",
    [
        ("date", "+%s%N"),
        ("python3", "-c", "import time; print(time.time_ns())"),
        ("perl", "-MTime::HiRes=clock_gettime", "-e", 'printf "%.9f", clock_gettime(0)'),
        ("bash", "-c", 'printf "%s" "$EPOCHREALTIME"'),
    ],
    ids=lambda words: words[0],
)
def test_what_they_tell_lies_between_before_and_after(timebase_command, words):
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} here")
    before = time.time_ns()
    outcome = timebase_command(*ALWAYS, *words)
    after = time.time_ns() + 80_000  # docs/decisions/0018-exec.md
    assert outcome.code == 0, outcome.err
    digits = outcome.out.strip().replace(".", "").replace(",", "")
    told = int(digits.ljust(19, "0"))
    fuzz = 1000  # perl has it as a floating-point number, bash in microseconds
    assert before - fuzz <= told <= after + fuzz
    assert outcome.err.startswith("timebase exec: helps: ")


THREADS = """
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void *look(void *back) {
    struct timespec last = {0}, now;
    for (int i = 0; i < 20000; i++, last = now) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        *(int *)back += now.tv_sec < last.tv_sec ||
            (now.tv_sec == last.tv_sec && now.tv_nsec < last.tv_nsec);
    }
    return 0;
}
int main(void) {
    pthread_t threads[4];
    int back[4] = {0}, status;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, look, &back[i]);
    pid_t child = fork();
    if (child == 0) { int mine = 0; look(&mine); _exit(mine != 0); }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    waitpid(child, &status, 0);
    return back[0] || back[1] || back[2] || back[3] || status;
}
"""


@can_help
def test_threads_and_a_forked_child(timebase_command, compiled):
    assert timebase_command(*ALWAYS, str(compiled(THREADS, "-pthread"))).code == 0


@can_help
def test_a_child_of_the_program_is_helped_too(timebase_command):
    outcome = timebase_command(*ALWAYS, "sh", "-c", "sh -c 'echo $LD_PRELOAD $TIMEBASE_PRELOAD'")
    assert outcome.out.split() == [libraries.find(BITS), "always"]


def test_it_is_the_program(timebase_command, tmp_path):
    """No process is between: the number of this one is the program's."""
    code = "import os, sys; from timebase.cli import main; print(os.getpid(), flush=True); main()"
    out = subprocess.run(
        [sys.executable, "-c", code, "exec", "sh", "-c", "echo $$"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    first, second = out.split()
    assert first == second


# ---- exit codes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_programs_own_exit_code(timebase_command, code):
    assert timebase_command("exec", "--", "sh", "-c", f"exit {code}").code == code


def test_the_programs_own_signal(timebase_command):
    outcome = timebase_command("exec", "sh", "-c", "kill -KILL $$")
    assert outcome.code == -signal.SIGKILL


def test_a_program_that_is_not_there(timebase_command):
    outcome = timebase_command("exec", "no-such-program", "-x")
    assert outcome.code == NOT_FOUND
    assert "no-such-program: not found on the PATH" in outcome.err
    assert timebase_command("exec", "/no/such/program").code == NOT_FOUND


def test_what_cannot_be_started(timebase_command, tmp_path):
    (tmp_path / "text").write_text("no program")
    executable(tmp_path / "nonsense", bytes(100))
    for name, said in (
        ("./text", "Permission denied"),
        (str(tmp_path), "is a folder"),
        ("./nonsense", "Exec format error"),
    ):
        outcome = timebase_command("exec", name)
        assert (outcome.code, said in outcome.err) == (NOT_EXECUTABLE, True), outcome.err


def test_what_would_run_it_is_missing(timebase_command, tmp_path):
    executable(tmp_path / "script", b"#!/no/such/interpreter\n")
    executable(tmp_path / "program", elf(headers=[(3, b"/no/such/loader\0")]))
    for name, missing in (("script", "/no/such/interpreter"), ("program", "/no/such/loader")):
        outcome = timebase_command("exec", f"./{name}")
        assert outcome.code == NOT_FOUND
        assert f"./{name}: its interpreter {missing} was not found" in outcome.err


def test_a_program_must_be_named(timebase_command):
    assert timebase_command("exec").code == WRONG_INPUT
    assert timebase_command("exec", "--no-such-option").code == WRONG_INPUT


def test_options_after_the_program_are_its_own(timebase_command):
    outcome = timebase_command("exec", "echo", "--why", "-x")
    assert (outcome.code, outcome.out) == (0, "--why -x\n")


def test_why_without_a_program_tells_of_the_machine(timebase_command):
    outcome = timebase_command("exec", "--why")
    assert outcome.code == 0
    assert outcome.err.startswith("timebase exec: ")


# ---- what a program is -------------------------------------------------------------------------------


def test_a_dynamic_program_has_a_loader(compiled):
    found = look(str(compiled("int main(void) { return 0; }")))
    assert (found.bits, found.is_go, found.gains_rights) == (BITS, False, False)
    assert "ld" in found.loader


@pytest.mark.parametrize("option", ["-static", "-static-pie"])
def test_a_static_program_is_told_so_and_runs(timebase_command, compiled, option):
    program = compiled("int main(void) { return 3; }", option)
    assert look(str(program)).loader is None
    if not clocks_of.look().is_readable:
        return
    outcome = timebase_command(*ALWAYS, str(program))
    assert outcome.code == 3
    assert "static: " in outcome.err
    assert "Only the kernel module helps it" in outcome.err


def test_a_script_is_judged_by_its_interpreter(tmp_path):
    interpreter = Path(shutil.which("sh")).resolve()
    script = executable(tmp_path / "script", f"#! {interpreter} -e\n".encode())
    found = look(str(script))
    assert (found.path, found.image) == (str(script), str(interpreter))
    assert found.loader == look(str(interpreter)).loader


def test_scripts_of_scripts_without_an_end(tmp_path):
    script = executable(tmp_path / "loop", f"#!{tmp_path}/loop\n".encode())
    assert look(str(script)).bits is None


def elf(bits=64, machine=62, headers=(), rest=b""):
    """The beginning of a program, with these program headers: (kind, content)."""
    kind = 2 if bits == 64 else 1
    begin = b"\x7fELF" + bytes([kind, 1, 1]) + bytes(9)
    size, head = (56, 64) if bits == 64 else (32, 52)
    at = head + size * len(headers)
    table, contents = b"", b""
    for number, content in headers:
        where = at + len(contents)
        if bits == 64:
            table += struct.pack("<IIQQQQQQ", number, 0, where, 0, 0, len(content), 0, 0)
        else:
            table += struct.pack("<IIIIIIII", number, where, 0, 0, len(content), 0, 0, 0)
        contents += content
    if bits == 64:
        fields = struct.pack(
            "<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, len(headers), 0, 0, 0
        )
    else:
        fields = struct.pack(
            "<HHIIIIIHHHHHH", 2, machine, 1, 0, 52, 0, 0, 52, 32, len(headers), 0, 0, 0
        )
    return begin + fields + table + contents + rest


LOADER = (3, b"/lib/ld-linux.so.2\0")
GO = (4, struct.pack("<III", 4, 4, 4) + b"Go\0\0abcd")
is_x86 = pytest.mark.skipif(os.uname().machine not in ("x86_64", "i686"), reason="not an x86")


@is_x86
def test_go_is_known_by_its_note(tmp_path):
    assert look(str(executable(tmp_path / "go", elf(headers=[GO])))).is_go
    assert look(str(executable(tmp_path / "go", elf(headers=[LOADER, GO])))).is_go
    assert not look(str(executable(tmp_path / "c", elf(headers=[LOADER])))).is_go


@is_x86
def test_a_32_bit_program(tmp_path):
    found = look(str(executable(tmp_path / "old", elf(32, 3, [LOADER]))))
    assert (found.bits, found.loader) == (32, "/lib/ld-linux.so.2")


@is_x86
@pytest.mark.parametrize("length", [5, 20, 63, 64, 100])
def test_a_program_that_is_cut_off_is_none(tmp_path, length):
    whole = elf(headers=[LOADER, GO])
    assert look(str(executable(tmp_path / "cut", whole[:length]))).loader in (None, "")


@is_x86
def test_a_program_of_another_processor_is_none_of_ours(tmp_path):
    assert look(str(executable(tmp_path / "arm", elf(machine=183, headers=[LOADER])))).bits is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a file away")
def test_set_user_id_counts_if_the_user_is_another(tmp_path):
    program = executable(tmp_path / "program", elf(headers=[LOADER]))
    program.chmod(0o4755)
    assert not look(str(program)).gains_rights
    os.chown(program, 1234, -1)
    program.chmod(0o4755)
    assert look(str(program)).gains_rights


def test_the_first_on_the_path_that_can_be_started(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    (first / "tool").write_text("not for execution")
    path = {"PATH": f"{first}:{second}"}
    with pytest.raises(ProgramError) as refused:
        find("tool", path)
    assert refused.value.code == NOT_EXECUTABLE
    executable(second / "tool", b"#!/bin/sh\n")
    assert find("tool", path).path == str(second / "tool")


# ---- whether it is helped ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def machine():
    """One whose kernel has given the counter up, and whose processor promises it."""
    counter = dataclasses.replace(
        probe(), name="TSC", kernel_clocksource="hpet", counter_class="invariant", hypervisor=False
    )
    return clocks_of.judge(counter, 1000, 5)


PROGRAM = Program("/usr/bin/tool", "/usr/bin/tool", 64, "/lib64/ld-linux-x86-64.so.2")


def reason(program, clocks, always=False, library="/lib/preload.so"):
    return judge(program, clocks, lambda bits: library if bits == 64 else None, always).reason


def changed(program, **fields):
    return dataclasses.replace(program, **fields)


def test_a_dynamic_program_where_the_kernel_is_slow_is_helped(machine):
    verdict = judge(PROGRAM, machine, lambda bits: "/lib/preload.so")
    assert (verdict.reason, verdict.library, verdict.is_loss) == ("helps", "/lib/preload.so", False)
    assert "hpet" in verdict.text
    assert "1,000 ns" in verdict.text


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"loader": None}, "static"),
        ({"is_go": True}, "go"),
        ({"is_go": True, "loader": None}, "go"),
        ({"gains_rights": True}, "gains-rights"),
        ({"bits": 32}, "no-library"),
        ({"bits": None}, "no-elf"),
        ({"loader": "/lib/ld-musl-x86_64.so.1"}, "other-c-library"),
    ],
)
def test_a_program_that_cannot_be_helped_is_told_why(machine, fields, expected):
    verdict = judge(
        changed(PROGRAM, **fields), machine, lambda bits: "/l.so" if bits == 64 else None
    )
    assert (verdict.reason, verdict.library, verdict.is_loss) == (expected, None, True)


def test_where_the_kernel_is_quick_it_steps_aside(machine):
    quick = changed(machine, clocksource="tsc", kernel_ns=20)
    assert reason(PROGRAM, quick) == "kernel-is-quick"
    assert not judge(PROGRAM, quick, lambda bits: None).is_loss
    assert reason(PROGRAM, quick, always=True) == "helps"


def test_where_all_readings_are_slow_it_steps_aside(machine):
    slow = changed(machine, clocksource="tsc", kernel_ns=170, coarse_ns=150)
    assert reason(PROGRAM, slow) == "kernel-is-quick"


def test_the_library_finds_dear_what_the_command_finds_dear():
    followed = Path(__file__).parents[2] / "src" / "preload" / "followed.c"
    assert f"#define DEAR {clocks_of.DEAR_TIMES}\n" in followed.read_text()


def test_a_counter_that_may_stop_is_not_followed(machine):
    assert reason(PROGRAM, changed(machine, may_stop=True)) == "counter-may-stop"


@pytest.mark.parametrize(
    ("counter_class", "hypervisor", "may_stop"),
    [
        ("invariant", False, False),
        ("non-stop", False, False),
        ("constant", False, True),
        ("none", None, True),
        ("unknown", False, True),
        ("unknown", True, False),
    ],
)
def test_who_promises_that_it_does_not_stop(counter_class, hypervisor, may_stop):
    counter = dataclasses.replace(probe(), counter_class=counter_class, hypervisor=hypervisor)
    assert clocks_of.judge(counter, 1000, 5).may_stop == may_stop


def test_other_counters_are_left_to_the_kernel(machine):
    assert reason(PROGRAM, changed(machine, is_readable=False), always=True) == "no-counter"


def test_a_path_that_the_loader_would_take_apart(machine):
    assert reason(PROGRAM, machine, library="/my lib/preload.so") == "no-library"


def test_libraries_that_are_there_already_come_first():
    verdict = Verdict("helps", "", "/lib/preload.so")
    assert environment_of(verdict, {})["LD_PRELOAD"] == "/lib/preload.so"
    given = {"LD_PRELOAD": "/lib/faketime.so"}
    assert environment_of(verdict, given)["LD_PRELOAD"] == "/lib/faketime.so:/lib/preload.so"
    twice = environment_of(verdict, environment_of(verdict, given), "always")
    assert twice["LD_PRELOAD"] == "/lib/faketime.so:/lib/preload.so"
    assert twice["TIMEBASE_PRELOAD"] == "always"
    assert environment_of(Verdict("static", ""), given) == given
