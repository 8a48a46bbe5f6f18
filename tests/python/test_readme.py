# SPDX-License-Identifier: MIT
"""The programs that README and the guide to waits print: they compile and run as printed, and the one
that waits is the example of its name."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from daemons import ROOT

import timebase

TEXTS = [
    ROOT / name
    for name in (
        "README.md",
        "docs/tutorial.md",
        "docs/guide/hit.md",
        "docs/guide/logging.md",
        "docs/guide/simulate.md",
    )
]
PRINTED = "".join(text.read_text(encoding="utf-8") for text in TEXTS)
LINES_MAX = 120
LIBRARY = next(Path(timebase.__file__).parent.parent.glob(".timebase.mesonpy.libs/*timebase*.so*"))
WARNINGS = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror")
COMPILER = shutil.which("cc") or shutil.which("gcc")
# A reader puts what is no program of its own into one.
AROUND = "#include <stdio.h>\n#include <timebase.h>\nint main(void)\n{{\n{}\nreturn 0;\n}}\n"


def blocks(language, text=PRINTED):
    """What is printed between the fences of that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def compiled(block, folder):
    source, program = folder / "block.c", folder / "block"
    source.write_text(block if "int main(" in block else AROUND.format(block))
    command = [COMPILER, *WARNINGS, f"-I{ROOT / 'include'}", source, LIBRARY, "-o", program]
    command.append(f"-Wl,-rpath,{LIBRARY.parent}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def run(*command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


@needs_compiler
@pytest.mark.parametrize("number", range(len(blocks("c"))))
def test_programs_in_c_compile_and_run(number, tmp_path):
    block = blocks("c")[number]
    done = run(compiled(block, tmp_path), folder=tmp_path)
    # The one that reads a shared page ends with 1 where there is none to read.
    allowed = {0, 1} if "timebase_clock_attach" in block else {0}
    assert done.returncode in allowed, done.stderr
    assert done.stdout or done.stderr or done.returncode == 1


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_programs_in_python_run(number, tmp_path):
    done = run(sys.executable, "-c", blocks("python")[number], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_there_are_blocks_to_try():
    assert len(blocks("c")) >= 2 and len(blocks("python")) >= 1


def test_the_readme_is_short():
    assert len(TEXTS[0].read_text(encoding="utf-8").splitlines()) <= LINES_MAX


def waiting():
    return next(block for block in blocks("c") if "timebase_wait_call" in block)


def test_the_program_that_waits_is_the_example():
    example = (ROOT / "examples/hit.c").read_text(encoding="utf-8")
    assert example.endswith("\n" + waiting())


@needs_compiler
def test_the_program_that_waits_sends_each_packet_once(tmp_path):
    """Rehearsed or late, however often the function was called."""
    done = run(compiled(waiting(), tmp_path), folder=tmp_path)
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(r"20 sent, \d+ of them late", last), done.stdout
    assert len(re.findall(r"^[+-][\d.]+ ns", done.stdout, re.MULTILINE)) == 20


@needs_compiler
def test_it_runs_without_rights_and_says_so(tmp_path):
    if not shutil.which("setpriv"):
        pytest.skip("no setpriv to give up rights with")
    program = compiled(waiting(), tmp_path)
    tmp_path.chmod(0o755)
    done = run(
        "setpriv", "--bounding-set=-sys_nice,-ipc_lock", "--inh-caps=-sys_nice,-ipc_lock",
        "prlimit", "--rtprio=0", "--memlock=65536", program, folder=tmp_path,
    )  # fmt: skip
    if "setpriv:" in done.stderr:
        pytest.skip("only root can give up rights")
    assert done.returncode == 0, done.stderr
    assert "Not all rights were granted" in done.stdout
    assert "20 sent" in done.stdout
