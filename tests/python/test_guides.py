# SPDX-License-Identifier: MIT
"""What the guides name is there: files of this tree, make targets, functions, options."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from daemons import PROGRAM, ROOT, needs_program, run

TEXTS = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", "docs/threat-model.md")),
    ROOT / "docs/tutorial.md",
    *sorted((ROOT / "docs/guide").glob("*.md")),
]
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


# Whose shell commands are run as they stand, one after the other, in an empty folder.
FOLLOWED = {
    "docs/tutorial.md": ["off CLOCK_REALTIME", "off kernel", "±"],
    "docs/guide/simulate.md": ["OK: SYNCHRONIZED", "CRITICAL: True UTC", "WARNING: FREERUNNING"],
}


@needs_program
@pytest.mark.parametrize("name", FOLLOWED)
def test_its_commands_do_what_they_are_said_to_do(name, tmp_path):
    """By this tree's daemon and command."""
    tmp_path.chmod(0o755)
    text = (ROOT / name).read_text(encoding="utf-8")
    commands = "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
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
