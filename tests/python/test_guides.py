# SPDX-License-Identifier: MIT
"""What the guides name is there: files of this tree, make targets, functions, options. What they say that
one types is run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from daemons import PROGRAM, needs_program, run
from followed import (
    BY_A_TEST,
    BY_NONE,
    BY_THEIR_LANGUAGE,
    FOLLOWED,
    ROOT,
    blocks,
    typed,
)
from followed import TEXTS as MANUALS

TEXTS = [*MANUALS, ROOT / "SECURITY.md", ROOT / "docs/threat-model.md"]
PATH = re.compile(
    r"(?<![\w/.-])(?:tests|src|docs|bench|examples|include|python|scripts|spec)/[\w./*-]*\w/?"
)
SYMBOL = re.compile(r"\b(?:timebase|TIMEBASE)_\w+(?=\()")
TARGET = re.compile(r"^    make ([a-z-]+)|`make ([a-z-]+)", re.MULTILINE)
OPTION = re.compile(r"(?:^    |`|\| )timebase ([a-z]+)([^`|#\n]*)", re.MULTILINE)


@pytest.fixture(scope="module")
def headers():
    return "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("include/**/*.h"))


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.name)
def test_names_are_those_of_this_tree(text, headers):
    said = text.read_text(encoding="utf-8")
    assert [path for path in PATH.findall(said) if not any(ROOT.glob(path))] == []
    assert [name for name in SYMBOL.findall(said) if name not in headers] == []
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {first or second for first, second in TARGET.findall(said)}
    assert [name for name in named if f"\n{name}:" not in targets] == []


def commands():
    """Each command with the options that some guide gives it."""
    found = {}
    for text in TEXTS:
        for name, rest in OPTION.findall(text.read_text(encoding="utf-8")):
            found.setdefault(name, set()).update(re.findall(r"--[a-z-]+", rest))
    return found


@pytest.mark.parametrize("command", sorted(commands()))
def test_options_are_those_of_the_command(command, timebase_command):
    outcome = timebase_command(command, "--help")
    assert outcome.code == 0, f"no command {command}"
    assert {option for option in commands()[command] if option not in outcome.out} == set()


@needs_program
def test_options_of_the_daemon_are_in_its_help():
    said = "".join(text.read_text(encoding="utf-8") for text in TEXTS)
    named = set(re.findall(r"timebased (--[a-z-]+)", said))
    done = run("--help")
    assert done.returncode == 0, done.stderr
    assert named and {option for option in named if option not in done.stdout} == set()


@needs_program
@pytest.mark.parametrize("name", FOLLOWED)
def test_its_commands_do_what_they_are_said_to_do(name, tmp_path):
    """By this tree's daemon and command."""
    tmp_path.chmod(0o755)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = "".join(blocks((ROOT / name).read_text(encoding="utf-8"), "sh"))
    programs = f"{Path(sys.executable).parent}:{PROGRAM.parent}"
    done = subprocess.run(
        ["sh", "-eu", "-c", f"trap 'kill ${{daemon-}} 2>/dev/null || :' EXIT; {commands}"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in FOLLOWED[name]:
        assert words in done.stdout, done.stdout + done.stderr


# ---- none is left out


def named(path):
    return str(path.relative_to(ROOT))


def test_blocks_of_the_shell_are_run():
    with_blocks = {
        named(path) for path in MANUALS if blocks(path.read_text(encoding="utf-8"), "sh")
    }
    assert with_blocks == {*FOLLOWED, *BY_THEIR_LANGUAGE}


@pytest.mark.parametrize("text", MANUALS, ids=lambda path: path.name)
def test_a_command_without_a_block_is_known_to_a_test_or_why_to_none(text):
    known = tuple({**BY_A_TEST, **BY_NONE})
    found = typed(text.read_text(encoding="utf-8"))
    assert [command for command in found if not command.startswith(known)] == []


def test_no_command_is_known_that_nobody_prints():
    printed = [one for path in MANUALS for one in typed(path.read_text(encoding="utf-8"))]
    known = {**BY_A_TEST, **BY_NONE}
    assert [one for one in known if not any(line.startswith(one) for line in printed)] == []
    tests = {*BY_A_TEST.values(), *BY_THEIR_LANGUAGE.values()}
    assert [path for path in tests if not (ROOT / path).exists()] == []
