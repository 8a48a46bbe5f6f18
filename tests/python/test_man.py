# SPDX-License-Identifier: MIT
"""Manual pages and completion: all there, up to date, and they say what the programs say."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from daemons import needs_program, run

from timebase.cli.verbs import program

ROOT = Path(__file__).resolve().parents[2]
MAN = ROOT / "docs/man"
PUBLIC = re.compile(r"^(?:TIMEBASE_API|TIMEBASE_INLINE)\b[^;{(]*?\b(timebase_\w+)\(", re.MULTILINE)
COMMANDS = typer.main.get_command(program()).commands


def plain(path):
    """The text of a page without fonts and escapes."""
    text = re.sub(r"\\f[BRI]", "", path.read_text(encoding="utf-8"))
    return text.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")


def options(command):
    for parameter in command.params:
        yield from (name for name in parameter.opts if name.startswith("-"))


@pytest.fixture(scope="module")
def man3(tmp_path_factory):
    """The pages of section 3, made of the headers that docs/man/meson.build names."""
    folder = tmp_path_factory.mktemp("man3")
    nouns = re.findall(r"'(timebase(?:/\w+)?)'", (MAN / "meson.build").read_text())
    headers = [ROOT / f"include/{noun}.h" for noun in dict.fromkeys(nouns)]
    headers = [header for header in headers if header.exists()]
    subprocess.run([sys.executable, ROOT / "scripts/make-man3", folder, *headers], check=True)
    return folder


# ---- timebase(1)


def test_the_page_and_the_completion_are_those_of_the_command(tmp_path):
    shutil.copytree(ROOT / "docs/man", tmp_path / "man")
    subprocess.run([sys.executable, ROOT / "scripts/make-man1", tmp_path], check=True)
    made = [
        "man/timebase.1",
        *(f"completion/{n}" for n in ("timebase", "_timebase", "timebase.fish")),
    ]
    for name in made:
        kept = ROOT / "docs" / name
        assert kept.read_text() == (tmp_path / name).read_text(), (
            f"run scripts/make-man1 docs: {name}"
        )


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_options_on_the_page(name):
    section = plain(MAN / "timebase.1").split(f"\n.SS timebase {name} ")[1].split("\n.S")[0]
    told = set(re.findall(r"^(?:.*, )?(--?[a-z][a-z-]*)", section, re.MULTILINE))
    told |= set(re.findall(r"^(-[a-z]), ", section, re.MULTILINE))
    told |= {
        name for line in re.findall(r"^-.*", section, re.MULTILINE) for name in line.split(", ")
    }
    told = {name.split("=")[0] for name in told}
    assert told == {*options(COMMANDS[name]), "-h", "--help"}


@pytest.mark.parametrize(
    "arguments, code",
    [
        (("now", "--frobnicate"), 2),
        (("doctor", "--cpu"), 2),
        (("watch", "--interval=0s"), 2),
        (("status", "--frobnicate"), 3),
        (("status", "--page=/nonexistent/page"), 3),
        (("run", "/nonexistent"), 2),
        (("now", "--page=/nonexistent/page"), 1),
        (("convert", "1", "--timeline=/nonexistent"), 1),
        (("--version",), 0),
    ],
)
def test_the_exit_codes_are_those_of_the_table(timebase_command, arguments, code):
    assert timebase_command(*arguments).code == code


def test_what_nobody_wants_coloured_is_not(timebase_command):
    forced = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    arguments = ("status", "--page=/nonexistent/page")
    assert "\x1b[" in timebase_command(*arguments, environment={**forced, "NO_COLOR": ""}).out
    quiet = timebase_command(*arguments, environment={**forced, "NO_COLOR": "1"}).out
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", quiet)


# ---- completion


def completed(*words):
    """What bash offers for the last word."""
    script = ROOT / "docs/completion/timebase"
    code = (
        f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _timebase; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", code, "bash", *words], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_bash_completes_commands_and_their_options():
    assert set(completed("timebase", "")) == {*COMMANDS, "--help", "--version"}
    assert completed("timebase", "conv") == ["convert"]
    for name, command in COMMANDS.items():
        assert set(completed("timebase", name, "-")) == {*options(command), "-h", "--help"}
    assert completed("timebase", "run", "cal") == []  # files: the shell's own


# ---- the daemon's


@needs_program
def test_the_daemons_options_are_those_on_its_page():
    told = set(re.findall(r"--[a-z-]+[a-z]", run("--help").stdout))
    page = plain(MAN / "timebased.8").split(".SH OPTIONS")[1].split(".SH ")[0]
    assert set(re.findall(r"--[a-z-]+[a-z]", page)) == told


@needs_program
def test_each_key_is_on_the_page_of_the_configuration():
    shown = run("--config=/dev/null", "--check").stdout
    keys = set(re.findall(r"^(?:# )?([a-z_]+)(?: =|: (?:none|whoever))", shown, re.MULTILINE))
    page = plain(MAN / "timebased.conf.5").split(".SH KEYS")[1].split(".SH ")[0]
    heads = re.findall(r"^\.TP\n\.BR? (.*)", page, re.MULTILINE)
    assert {key for head in heads for key in re.findall(r"[a-z_]+", head)} == keys


# ---- section 3


def test_each_public_function_has_a_page_that_shows_it(man3):
    headers = sorted((ROOT / "include/timebase").glob("*.h"))
    found = {name for header in headers for name in PUBLIC.findall(header.read_text())}
    assert len(found) > 50
    for name in found:
        target = man3 / (man3 / f"{name}.3").read_text().split()[1].removeprefix("man3/")
        text = target.read_text()
        assert name in text.split(".SH NAME\n")[1].split("\\-")[0].replace(",", " ").split()
        assert re.search(rf"^[^.].*\b{name}\(", text.split(".SH DECLARATIONS")[1], re.MULTILINE), (
            name
        )


def test_each_comment_of_a_public_function_is_on_its_page(man3):
    """A sentence of each header, and nothing of the C code behind the declarations."""
    page = plain(man3 / "timebase_clock.3")
    assert "The process' own clock; never NULL. Cheap, and the same each time." in page
    assert "return timebase_" not in page
    assert "TIMEBASE_API" not in page and "__attribute__" not in page
    assert "int64_t timebase_utc_ns(const timebase_clock *clock);" in page
    assert "#include <timebase.h>" in plain(man3 / "timebase.3")


def test_no_page_has_a_fault_that_mandoc_knows(man3):
    if shutil.which("mandoc") is None:
        pytest.skip("no mandoc here: apt-get install mandoc")
    pages = [*MAN.glob("*.[158]"), *man3.glob("timebase*.3")]
    pages = [page for page in pages if not page.read_text().startswith(".so ")]
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", *pages],
        capture_output=True,
        text=True,
        check=False,
    )
    # Without a date they are the same whenever they are made.
    faults = [line for line in done.stdout.splitlines() if "missing date" not in line]
    assert not faults, "\n".join(faults)
