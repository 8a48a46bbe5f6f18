# SPDX-License-Identifier: MIT
"""`timebase run` as a person has it: another process, its outputs, exit codes and signals."""

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from calendars import (
    CPU,
    ENDLESS,
    ONCE,
    PROGRAM,
    compile_library,
    run_calendar,
    unit_of,
    valid,
    write_calendar,
)

DONE, FAILED, WRONG_INPUT = 0, 1, 2
# Two units at the same time, and one that cannot meet its deadline.
IMPOSSIBLE = """
[[unit]]
name = "first"
period = "1ms"
duration = "300us"
none = true

[[unit]]
name = "second"
ready = "200us"
period = "1ms"
duration = "300us"
none = true

[[unit]]
name = "third"
ready = "700us"
period = "1ms"
duration = "200us"
deadline = "100us"
none = true
"""


# ---- outputs


def test_table_json_and_plots(timebase_command, tmp_path):
    write_calendar(tmp_path, ENDLESS)
    outcome = timebase_command(
        "run", "calendar.toml", "--for", "200ms", "--json", "out.json", "--plot", "out.svg"
    )
    assert outcome.code == DONE, outcome.err
    assert "Admitted." in outcome.out
    assert "Done." in outcome.out
    assert "told" in outcome.out
    document = valid(json.loads((tmp_path / "out.json").read_text(encoding="utf-8")))
    unit = unit_of(document, "a")
    assert unit["released"] + unit["skipped"] == 90
    assert (tmp_path / "out.svg").read_text(encoding="utf-8").startswith("<?xml")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"begun", "calendar.toml", "out.json", "out.svg"}


def test_png(tmp_path):
    from timebase.run.plot import draw

    document = run_calendar(write_calendar(tmp_path, ONCE))
    assert draw(document, "png").startswith(b"\x89PNG")
    document["units"] = []  # nothing was released
    assert draw(document, "png").startswith(b"\x89PNG")


def test_a_histogram_alone_is_on_standard_output(timebase_command, tmp_path):
    """As `cyclictest --quiet --histogram`; programs print elsewhere."""
    units = ONCE.replace("none = true", 'command = ["echo", "loud"]').replace("1us", "10ms")
    write_calendar(tmp_path, units)
    outcome = timebase_command("run", "calendar.toml", "--histogram", "50", "--json", "out.json")
    assert outcome.code == DONE, outcome.err
    assert "loud" in outcome.err
    lines = outcome.out.splitlines()
    assert all(re.fullmatch(r"#.*|\d{6} \d{6,}(\t\d{6,})*", line) for line in lines), lines
    unit = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["units"][0]
    assert f"# Total: {unit['released']:09d}" in lines
    counted = sum(int(line.split()[1]) for line in lines if line[0] != "#")
    overflows = next(int(line.split()[3]) for line in lines if line.startswith("# Histogram Over"))
    assert counted + overflows == unit["released"]


def test_json_alone_is_on_standard_output(timebase_command, tmp_path):
    """Although a program prints there."""
    units = ONCE.replace("none = true", 'command = ["echo", "loud"]').replace("1us", "10ms")
    write_calendar(tmp_path, units)
    outcome = timebase_command("run", "calendar.toml", "--json", "-")
    assert outcome.code == DONE, outcome.err
    assert valid(json.loads(outcome.out))["run"]["ended"] == "done"
    assert "loud" in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "-", "--histogram", "50"),
        ("--histogram", "0"),
        ("--json", "missing/out.json"),
        ("--json", "."),
        ("--json", "work/pipe"),
        ("--json", "work/calendar.toml"),
        ("--json", "same.svg", "--plot", "same.svg"),
        ("--plot", "out.pdf"),
        ("--plot", "missing/out.svg"),
        ("--plot", "out"),
        ("--for", "10"),
        ("--for", "0"),
        ("--for", "-1s"),
        ("--for", "1 fortnight"),
        ("--cpu", "-1"),
        ("--cpu", "8191"),
        ("--cpu", "x"),
        ("--priority", "0"),
        ("--priority", "100"),
    ],
)
def test_wrong_options_are_told_before_anything_is_run(tmp_path, monkeypatch, capsys, arguments):
    """In this process, since there are so many."""
    from timebase.cli import main

    (tmp_path / "work").mkdir()
    path = write_calendar(tmp_path / "work", ENDLESS)
    os.mkfifo(tmp_path / "work" / "pipe")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["timebase", "run", str(path), *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == WRONG_INPUT
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err
    assert sorted(tmp_path.rglob("*")) == before


def test_no_file_and_wrong_file(timebase_command, tmp_path):
    outcome = timebase_command("run", "missing.toml")
    assert outcome.code == WRONG_INPUT
    assert "missing.toml" in outcome.err
    write_calendar(tmp_path, ONCE + "perod = '1s'\n")
    outcome = timebase_command("run", "calendar.toml")
    assert outcome.code == WRONG_INPUT
    assert outcome.err.startswith("timebase: calendar.toml:8: ")
    assert "did you mean period?" in outcome.err
    assert outcome.out == ""


def test_cpu_of_the_file_that_is_not_there_is_named(timebase_command, tmp_path):
    write_calendar(tmp_path, ONCE, head="[calendar]\ncpu = 8191\n")
    outcome = timebase_command("run", "calendar.toml")
    assert outcome.code == WRONG_INPUT
    assert "calendar.toml:2: [calendar]: cpu: " in outcome.err
    assert timebase_command("run", "calendar.toml", "--cpu", str(CPU)).code == DONE


# ---- admission


def test_what_is_not_admitted_is_told_with_its_lines_and_not_run(timebase_command, tmp_path):
    write_calendar(tmp_path, IMPOSSIBLE)
    outcome = timebase_command("run", "calendar.toml", "--json", "out.json")
    assert outcome.code == FAILED
    assert "Not admitted" in outcome.out
    document = valid(json.loads((tmp_path / "out.json").read_text(encoding="utf-8")))
    assert document["admitted"] is False
    assert document["run"] is None
    assert document["units"] == []
    lines = (tmp_path / "calendar.toml").read_text().splitlines()
    faults = {
        (problem["kind"], problem["unit"], problem["other"], lines[problem["line"] - 1])
        for problem in document["problems"]
        if problem["severity"] == "fault"
    }
    assert ("overlap", "second", "first", 'ready = "200us"') in faults
    assert ("deadline", "third", None, 'deadline = "100us"') in faults
    for problem in document["problems"]:
        assert f" {problem['line']} " in outcome.out


def test_check_says_yes_and_runs_nothing(timebase_command, tmp_path):
    write_calendar(tmp_path, ENDLESS)
    outcome = timebase_command("run", "calendar.toml", "--check", "--json", "-")
    assert outcome.code == DONE, outcome.err
    document = valid(json.loads(outcome.out))
    assert document["admitted"] is True
    assert document["run"] is None
    assert not (tmp_path / "begun").exists()


def test_check_says_no(timebase_command, tmp_path):
    write_calendar(tmp_path, IMPOSSIBLE)
    outcome = timebase_command("run", "calendar.toml", "--check")
    assert outcome.code == FAILED
    assert "Not admitted" in outcome.out


def test_realtime_is_asked_for_and_refusals_are_told_with_advice(timebase_command, tmp_path):
    """As somebody without rights: SCHED_FIFO is refused, the calendar is run all the same."""
    if os.getuid() != 0:
        pytest.skip("only root can become somebody without rights")
    path = write_calendar(tmp_path, ONCE, head=f"[calendar]\ncpu = {CPU}\n")
    for folder in (path, *path.parents):
        with contextlib.suppress(PermissionError):
            folder.chmod(folder.stat().st_mode | 0o555)
    program = (
        "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "from timebase.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "run", str(path), "--json", "-"],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if "No module named" in done.stderr or "Permission denied: '" in done.stderr:
        pytest.skip("others may not read this Python")
    assert done.returncode == DONE, done.stderr
    refused = valid(json.loads(done.stdout))["realtime"]["refused"]
    assert any("SCHED_FIFO" in refusal["name"] for refusal in refused)
    for refusal in refused:
        assert done.stderr.count(f"no {refusal['name']}: {refusal['reason']}. ") == 1
        assert refusal["advice"] in done.stderr


def test_terminal_shows_how_it_goes(tmp_path):
    """On a terminal of its own, 80 letters wide."""
    import pty

    write_calendar(tmp_path, ENDLESS)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "calendar.toml", "--for", "300ms"],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    assert process.wait() == DONE, shown
    assert b"Done." in shown
    assert b"Traceback" not in shown
    assert shown.count(b"disturbed") >= 2  # meanwhile, and at the end


EXAMPLES = Path(__file__).parents[2] / "examples"


def test_example_that_only_measures(timebase_command, tmp_path):
    """On the CPU that all tests take, without anything that is real-time."""
    path = EXAMPLES / "measure.toml"
    options = ("--for", "100ms", "--cpu", str(CPU), "--no-realtime")
    outcome = timebase_command("run", str(path), *options, "--json", "-")
    assert outcome.code == DONE, outcome.err
    document = valid(json.loads(outcome.out))
    assert document["realtime"]["granted"] == ["CPU of its own"]
    assert [unit["released"] + unit["skipped"] for unit in document["units"]] == [100, 100, 100]


def test_example_with_work_of_each_kind(tmp_path):
    for name in ("work.toml", "work.py", "work.c"):
        (tmp_path / name).write_text((EXAMPLES / name).read_text(encoding="utf-8"))
    compile_library(tmp_path, (tmp_path / "work.c").read_text(encoding="utf-8"), "libwork.so")
    text = (tmp_path / "work.toml").read_text(encoding="utf-8")
    head = f'[calendar]\nrealtime = false\ncpu = {CPU}\nlength = "100ms"\n'
    (tmp_path / "calendar.toml").write_text(head + text[text.index("[[unit]]") :])
    document = run_calendar(tmp_path / "calendar.toml")
    assert document["run"]["ended"] == "done"
    dates = (tmp_path / "dates.txt").read_text().splitlines()
    assert len(dates) == unit_of(document, "date")["command"]["started"]
