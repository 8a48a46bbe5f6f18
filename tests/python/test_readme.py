# SPDX-License-Identifier: MIT
"""The programs that README, tutorial and guides print: they compile and run as printed, and the one that
waits is the example of its name. What is only a part of a program is checked against the headers."""

import ast
import operator
import re
import shutil
import subprocess
import sys
from pathlib import Path

import followed
import pytest
from followed import ROOT

import timebase

# Those that print whole programs.
WHOLE = [
    ROOT / name
    for name in (
        "README.md",
        "docs/tutorial.md",
        "docs/guide/hit.md",
        "docs/guide/logging.md",
        "docs/guide/simulate.md",
    )
]
PRINTED = "".join(text.read_text(encoding="utf-8") for text in WHOLE)
LINES_MAX = 120
LIBRARY = next(Path(timebase.__file__).parent.parent.glob(".timebase.mesonpy.libs/*timebase*.so*"))
WARNINGS = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror")
COMPILER = shutil.which("cc") or shutil.which("gcc")
# A reader puts what is no program of its own into one.
AROUND = "#include <stdio.h>\n#include <timebase.h>\nint main(void)\n{{\n{}\nreturn 0;\n}}\n"


def blocks(language):
    return followed.blocks(PRINTED, language)


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


# ---- parts of programs


def parts(language):
    """(text and number, block) of those that print no whole programs."""
    for text in followed.TEXTS:
        if text not in WHOLE:
            found = followed.blocks(text.read_text(encoding="utf-8"), language)
            for number, block in enumerate(found):
                yield pytest.param(block, id=f"{text.name}-{number}")


# What a part takes for granted.
GRANTED = """
const timebase_clock *clock = timebase_clock_default();
struct timebase_calendar calendar = {0};
struct timebase_instant event;
struct timebase_interval now;
int64_t deadline_ns = TIMEBASE_NO_DEADLINE;
uint64_t ticks = timebase_ticks();
void work(void);
"""


def arrangements(part):
    """Where its lines may stand: all in a function, all in a file, or the first in the file."""
    first, _, rest = part.partition("\n...\n")
    yield "", part
    yield part, ""
    yield first, rest


def is_c(outside, inside, folder):
    include = "".join(re.findall(r"^#include .*\n", inside, re.MULTILINE))
    inside = re.sub(r"^#include .*\n", "", inside, flags=re.MULTILINE)
    inside = re.sub(r"^(\s*)\.\.\.", r"\1;", inside, flags=re.MULTILINE)
    source = folder / "part.c"
    source.write_text(
        f"#include <stdio.h>\n#include <timebase.h>\n{include}{outside}\n"
        f"int main(void)\n{{\n{GRANTED}{{{inside}}}\nreturn 0;\n}}\n"
    )
    command = [COMPILER, *WARNINGS, "-Wno-unused", "-Wno-empty-body", "-Wno-shadow"]
    command += ["-fsyntax-only", f"-I{ROOT / 'include'}", f"-I{ROOT / 'examples/power'}", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


@needs_compiler
@pytest.mark.parametrize("part", list(parts("c")))
def test_parts_in_c_are_what_the_headers_have(part, tmp_path):
    tried = [is_c(*where, tmp_path) for where in arrangements(part)]
    assert any(is_good for is_good, _ in tried), tried[0][1]


@pytest.mark.parametrize("part", list(parts("python")))
def test_parts_in_python_are_what_the_package_has(part):
    ast.parse(part)
    for name in re.findall(r"\btimebase\.([\w.]*\w)", part):
        operator.attrgetter(name)(timebase)


def test_the_readme_names_both_commands():
    text = WHOLE[0].read_text(encoding="utf-8")
    assert [name for name in ("make report", "make test") if name not in text] == []


def test_the_readme_is_short():
    assert len(WHOLE[0].read_text(encoding="utf-8").splitlines()) <= LINES_MAX


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
