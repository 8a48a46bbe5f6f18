# SPDX-License-Identifier: MIT
"""timebase watch: samples, what changed between them, and a clean end."""

import json
import os
import re
import signal
import subprocess
import sys

import jsonschema
import pytest
from rich.console import Console
from shared_pages import write_page

from timebase import schemas
from timebase.api.library import lib
from timebase.cli.watch import _Columns, screen
from timebase.status.watch import NO_PAGE, Sample, Watch, changed, page_sampler, sparkline


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def looks(outcome):
    found = [json.loads(line) for line in outcome.out.splitlines()]
    for look in found:
        jsonschema.Draft202012Validator(schemas.load("watch")).validate(look)
    return found


def test_a_page_is_watched(timebase_command, tmp_path):
    path = write_page(tmp_path)
    arguments = ("--page", str(path), "--count", "3", "--interval", "1ms", "--json")
    outcome = timebase_command("watch", *arguments)
    assert outcome.code == 0, outcome.err
    found = looks(outcome)
    assert [look["state"] for look in found] == ["SYNCHRONIZED"] * 3
    times = [look["utc_ns"] for look in found]
    assert times == sorted(times)


def test_a_process_watches_its_own_clock_without_a_daemon(timebase_command):
    outcome = timebase_command("watch", "--private", "--count", "2", "--interval", "1ms", "--json")
    assert outcome.code == 0, outcome.err
    found = looks(outcome)
    assert len(found) == 2
    assert all(look["age_ns"] is None and look["maxerror_ns"] > 0 for look in found)


def test_without_a_terminal_there_are_columns_below_a_header(timebase_command, tmp_path):
    path = write_page(tmp_path)
    outcome = timebase_command("watch", "--page", str(path), "--count", "45", "--interval", "1ms")
    lines = outcome.out.splitlines()
    headers = [number for number, line in enumerate(lines) if line.split()[0] == "UTC"]
    assert headers == [0, 21, 42] and len(lines) == 48
    assert all(len(line) <= 80 for line in lines)
    for line in lines[1:3]:
        assert re.fullmatch(r"\S+Z SYNCHRONIZED( +-?[\d,.]+ (ns|µs|ms|s)){4}", line), line


def test_changes_are_comments_between_the_columns(tmp_path, capsys):
    watching = Watch(page_sampler(tmp_path / "page"))
    with _Columns() as show:
        write_page(tmp_path)
        show(watching.look())
        write_page(tmp_path, flags=lib.TIMEBASE_STATUS_FREERUNNING, late=2)
        show(watching.look())
        (tmp_path / "page").unlink()
        show(watching.look())
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# SYNCHRONIZED -> FREERUNNING",
        "# late publications: +2",
        "# FREERUNNING -> NO PAGE",
    ]
    assert lines[-3].startswith("NO PAGE: ") and lines[-2].startswith("→ ")


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_screen_is_as_wide_as_the_terminal(tmp_path, width):
    write_page(tmp_path, maxerror_ns=400_000_000)
    watching = Watch(page_sampler(tmp_path / "page"))
    for _ in range(60):
        watching.look()
    console = Console(width=width, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(screen(watching, "page", width))
    pictures = [line for line in console.export_text().splitlines() if set("▁▂▃▄▅▆▇█") & set(line)]
    assert len(pictures) == 4 and all(
        line.startswith(("off", "by", "true", "age")) for line in pictures
    )


def test_a_page_that_never_comes_is_a_failure(timebase_command):
    """Told once however long it lasts, with what to do."""
    arguments = ("watch", "--page", "page", "--count", "3", "--interval", "1ms")
    outcome = timebase_command(*arguments)
    assert outcome.code == 1
    problem, advice = outcome.out.splitlines()
    assert problem.startswith("NO PAGE: ") and problem.endswith("page is not there.")
    assert advice.startswith("→ Start one") and "--private" in advice
    for look in looks(timebase_command(*arguments, "--json")):
        assert f"NO PAGE: {look['problem']}" == problem and f"→ {look['advice']}" == advice


def test_a_page_that_is_refused_for_another_reason_is_told_again(tmp_path, capsys):
    watching = Watch(page_sampler(tmp_path / "page"))
    with _Columns() as show:
        show(watching.look())
        (tmp_path / "page").write_bytes(b"no page")
        for _ in range(2):
            show(watching.look())
        (tmp_path / "page").unlink()
        show(watching.look())
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[::2]] == ["NO PAGE"] * 3
    assert all(line.startswith("→ ") for line in lines[1::2])
    assert "a page has 640" in lines[2]


def test_a_page_that_comes_goes_and_comes_back_is_logged(tmp_path):
    watching = Watch(page_sampler(tmp_path / "page"))
    assert watching.look()["state"] == NO_PAGE
    write_page(tmp_path)
    assert watching.look()["changes"] == ["NO PAGE -> SYNCHRONIZED"]
    write_page(tmp_path, flags=lib.TIMEBASE_STATUS_FREERUNNING, steps=1, marker=5, late=2)
    assert watching.look()["changes"] == [
        "SYNCHRONIZED -> FREERUNNING",
        "late publications: +2",
        "steps of UTC: +1",
        "disruptions: +5",
    ]
    (tmp_path / "page").unlink()
    assert watching.look()["changes"] == ["FREERUNNING -> NO PAGE"]
    assert watching.read == 2


def test_counts_that_begin_anew_are_no_negative_events():
    before, after = Sample("SYNCHRONIZED", utc_steps=7), Sample("SYNCHRONIZED", utc_steps=1)
    assert list(changed(before, after)) == ["steps of UTC: counted anew, 1"]


@pytest.mark.parametrize(
    "values, line",
    [
        ([], ""),
        ([None], ""),
        ([5, 5], "▁▁"),
        ([0, 7], "▁█"),
        ([-10, None, 10], "▁ █"),
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
        ([2**62, 0], "█▁"),
    ],
)
def test_sparkline(values, line):
    assert sparkline(values) == line


def test_the_screen_has_all_that_matters_with_and_without_a_page(tmp_path):
    watching = Watch(page_sampler(tmp_path / "page"))
    watching.look()
    said = " ".join(shown(watching).split())  # wherever a long path wraps it
    assert "is not there" in said and "→ Start one" in said and "UTC" not in said
    write_page(tmp_path)
    watching.look()
    text = shown(watching)
    for words in ("SYNCHRONIZED", "off CLOCK_REALTIME", "certainly within", "true UTC within"):
        assert words in text
    assert "age" in text and "NO PAGE -> " in text


def shown(watching):
    console = Console(width=100, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(screen(watching, "page"))
    return console.export_text()


@pytest.mark.parametrize("how", ["--json", None])
def test_an_interrupt_ends_it_in_good_order(tmp_path, how):
    program = [sys.executable, "-c", "from timebase.cli import main; main()", "watch", "--private"]
    arguments = [*program, "--interval", "5ms", *([how] if how else [])]
    running = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = running.stdout.readline()
    running.send_signal(signal.SIGINT)
    rest, errors = running.communicate()
    assert running.returncode == 0
    assert errors == ""
    assert first
    assert (first + rest).endswith("\n")
    if how:
        assert all(json.loads(line) for line in (first + rest).splitlines())


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path):
    program = [sys.executable, "-c", "from timebase.cli import main; main()", "watch", "--private"]
    arguments = [*program, "--interval", "1ms", "--json"]
    running = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    running.stdout.readline()
    running.stdout.close()
    errors = running.stderr.read()
    assert running.wait() == 0
    assert errors == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--interval", "0s"),
        ("--interval", "fast"),
        ("--count", "0"),
        ("--private", "--page", "page"),
        ("--frobnicate",),
    ],
)
def test_wrong_input(timebase_command, arguments):
    outcome = timebase_command("watch", *arguments)
    assert outcome.code == 2
    assert outcome.err and not outcome.out
    assert "Traceback" not in outcome.err
