# SPDX-License-Identifier: MIT
"""timebase convert: formats, reasons with file and line, exit codes."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import jsonschema
import pytest
from shared_pages import write_page
from timelines import cases, write_case, write_series

from timebase import Page, Status, default_clock, schemas
from timebase.api.errors import InputError, TimebaseError
from timebase.api.library import lib
from timebase.convert import meaning
from timebase.convert.formats import FORMATS, NoTickError


@pytest.fixture
def run(tmp_path):
    """Publications of the timeline in the folder "timeline" of the command's working folder."""
    return write_series(tmp_path / "timeline", 20)


def documents(outcome):
    document = json.loads(outcome.out)
    jsonschema.Draft202012Validator(schemas.load("convert")).validate(document)
    return document


def convert(timebase_command, *arguments):
    return timebase_command("convert", "--timeline", "timeline", *arguments)


def test_ticks_as_arguments(timebase_command, run):
    ticks = run[3].ticks + 5
    outcome = convert(timebase_command, str(ticks), hex(ticks), "--json")
    assert outcome.code == 0, outcome.err
    document = documents(outcome)
    told = run[3].at(ticks)
    assert document["converted"] == 2
    for row in document["rows"]:
        assert str(row["utc_ns"]) == told["utc_ns"]
        assert str(row["utc_maxerror_ns"]) == told["utc_maxerror_ns"]
        status = told["flags"] & 15
        assert row["status"] == Status(status).name
        is_estimate = bool(told["flags"] & lib.TIMEBASE_LINE_ESTIMATE)
        assert row["is_promise"] == (row["status"] == "SYNCHRONIZED" and not is_estimate)


def test_the_table_has_utc_bound_and_status(timebase_command, run):
    outcome = convert(timebase_command, str(run[3].ticks))
    assert outcome.code == 0
    assert outcome.out.startswith("2023-11-14T") and re.search(r"± +[\d.]+ .?s ", outcome.out)
    assert "±" in outcome.out and "SYNCHRONIZED" in outcome.out


def test_without_a_history_it_says_how_to_have_one(timebase_command):
    """The daemon's default is to keep none: what most meet who try the command first."""
    outcome = timebase_command("convert", "1", "--timeline", "none-such")
    assert outcome.code == 1 and outcome.out == ""
    assert "there is no timeline: none-such" in outcome.err
    for words in ("timebased.conf", "`timeline = /var/lib/timebase/timeline`", "reload", "--page"):
        assert words in outcome.err


def test_a_history_that_this_user_may_not_read_is_told_with_where_to_look(monkeypatch):
    def refuse(*_, **__):
        raise TimebaseError(
            "timeline h: the kernel or a sandbox refuses it", lib.TIMEBASE_E_PERMISSION
        )

    monkeypatch.setattr(meaning, "Timeline", refuse)
    with pytest.raises(TimebaseError) as refused:
        meaning.ByTimeline("h", None, False)
    assert refused.value.advice == "May this user read it? ls -la h"


def test_a_bound_of_seconds_is_not_shown_in_nanoseconds(timebase_command, tmp_path):
    path = write_page(tmp_path, utc_maxerror_ns=16_000_552_854)
    ticks = default_clock().now().ticks
    outcome = timebase_command("convert", "--page", str(path), str(ticks))
    assert "± 16.0 s" in " ".join(outcome.out.split()), outcome.out


def test_an_estimate_is_no_promise(timebase_command, tmp_path):
    line = cases.first(10_000_000_000).after
    line = replace(line, flags=line.flags | lib.TIMEBASE_LINE_ESTIMATE)
    told = cases.tm.Publication(line.start_ticks + 100, line, line, line)
    write_series(tmp_path / "timeline", 2, told)
    outcome = convert(timebase_command, str(told.ticks))
    assert "SYNCHRONIZED, estimate" in outcome.out
    (row,) = documents(convert(timebase_command, str(told.ticks), "--json"))["rows"]
    assert row["status"] == "SYNCHRONIZED" and row["is_promise"] is False


def test_csv_in_and_out(timebase_command, tmp_path, run):
    text = "what,ticks\n" + "".join(f"a,{found.ticks}\n" for found in run[:10])
    (tmp_path / "log.csv").write_text(text)
    options = ("--file", "log.csv", "--format", "csv", "--column", "ticks", "--csv")
    outcome = convert(timebase_command, *options)
    assert outcome.code == 0, outcome.err
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    assert [int(row["utc_ns"]) for row in rows] == [
        int(found.at(found.ticks)["utc_ns"]) for found in run[:10]
    ]
    assert rows[0]["line"] == "2"


def test_what_cannot_be_converted_is_named_with_file_and_line(timebase_command, tmp_path, run):
    (tmp_path / "log").write_text(f"{run[1].ticks}\n\n5\nrubbish\n{run[2].ticks}\n")
    outcome = convert(timebase_command, "-f", "log", "--json")
    assert outcome.code == 1
    document = documents(outcome)
    assert (document["converted"], document["refused"]) == (2, 2)
    assert [row["line"] for row in document["rows"]] == [1, 3, 4, 5]
    assert "log:3: tick 5: it lies before the first line" in outcome.err
    assert "log:4: 'rubbish' is no tick" in outcome.err
    assert "2 of 4 not converted" in outcome.err


@pytest.mark.parametrize("place", ["log", "-"])
def test_bytes_that_are_no_text_cost_their_line_alone(tmp_path, run, place):
    content = b"\xff\xfe\n%d \xff\n" % run[1].ticks
    (tmp_path / "log").write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", "from timebase.cli import main; main()"]
        + ["convert", "--timeline", "timeline", "--file", place],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
        input=content,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert b":1: " in done.stderr and b"1 of 2 not converted" in done.stderr


def test_a_line_that_is_no_csv_costs_itself_alone(timebase_command, tmp_path, run):
    (tmp_path / "log.csv").write_text(f"ticks\n{'x' * 200_000}\n{run[1].ticks}\n")
    outcome = convert(timebase_command, "-f", "log.csv", "--format", "csv", "--csv")
    assert outcome.code == 1
    assert len(outcome.out.splitlines()) == 3
    assert "log.csv:2: 'xxx" in outcome.err and "is no csv: field larger" in outcome.err


def test_a_closed_standard_input_is_named(tmp_path, run):
    command = [sys.executable, "-c", "from timebase.cli import main; main()"]
    command += ["convert", "--timeline", "timeline", "--file", "-"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr == "timebase: standard input is closed: name a file\n"


def test_strict_stops_at_the_first(timebase_command, tmp_path, run):
    (tmp_path / "log").write_text(f"{run[1].ticks}\n5\n{run[2].ticks}\n")
    outcome = convert(timebase_command, "-f", "log", "--strict", "--csv")
    assert outcome.code == 1
    assert len(outcome.out.splitlines()) == 3
    assert "log:2:" in outcome.err


TRACE = """cpus=2
          <idle>-0     [000] {0}: sched_switch:   swapper/0:0 [120] R ==> a:1 [120]
           a-b c-17    [001] d..2 {1}: sys_enter: NR 1 (1, 2, 3)
"""


def test_trace_cmd(timebase_command, tmp_path, run):
    (tmp_path / "trace").write_text(TRACE.format(run[4].ticks, run[5].ticks))
    outcome = convert(timebase_command, "-f", "trace", "--format", "trace-cmd")
    assert outcome.code == 0, outcome.err
    assert len(outcome.out.splitlines()) == 2
    assert outcome.out.splitlines()[0].endswith("a:1 [120]")


def test_a_trace_of_another_clock_is_refused(timebase_command, tmp_path, run):
    (tmp_path / "trace").write_text(TRACE.format("12.345678", "12.345679"))
    outcome = convert(timebase_command, "-f", "trace", "--format", "trace-cmd")
    assert outcome.code == 1
    assert "trace:2: 12.345678 is a time, not a tick" in outcome.err
    assert "x86-tsc" in outcome.err


def test_perf(timebase_command, tmp_path, run):
    lines = [
        "0 0x1 [0x30]: PERF_RECORD_AUXTRACE size: 0x1",
        f".  00000010:  19 54 98 TSC 0x{run[6].ticks:x}",
        f"prog 123 [000] branches: tsc={run[7].ticks} ip: 0x1",
        f"prog 123 tsc: 0x{run[8].ticks:x}",
    ]
    (tmp_path / "script").write_text("\n".join(lines))
    outcome = convert(timebase_command, "-f", "script", "--format", "perf", "--json")
    assert [row["ticks"] for row in documents(outcome)["rows"]] == [f.ticks for f in run[6:9]]


def test_boots_are_asked_for(timebase_command, tmp_path):
    write_case(tmp_path / "timeline", cases.two_boots)
    ticks = "3000"
    outcome = convert(timebase_command, ticks)
    assert outcome.code == 1
    assert "say of which boot" in outcome.err
    listed = documents(convert(timebase_command, "--boots", "--json"))["boots"]
    assert len(listed) == 2
    for boot in listed:
        assert convert(timebase_command, ticks, "--boot", boot["id"]).code == 0
    assert convert(timebase_command, ticks, "--boot", "6465").code == 0  # its beginning
    refused = convert(timebase_command, ticks, "--boot", "ff")
    assert refused.code == 2 and "--boots lists them" in refused.err


def test_contents_for_people(timebase_command, tmp_path):
    write_case(tmp_path / "timeline", cases.gaps)
    outcome = convert(timebase_command, "--boots")
    assert outcome.code == 0
    assert "gap, disrupted" in outcome.out and "gap, lost" in outcome.out
    (tmp_path / "none").mkdir()
    assert "no lines yet" in timebase_command("convert", "--timeline", "none", "--boots").out


def test_by_a_page(timebase_command, tmp_path, run):
    publication = run[5]
    lines = []
    for line in (publication.before, publication.slew, publication.after):
        lines.append(
            {
                "start_ticks": line.start_ticks,
                "mono_ns": line.mono_ns,
                "utc_ns": line.utc_ns,
                "period_frac": line.period,
                "flags": line.flags,
                "maxerror_ns": line.maxerror_ns,
                "utc_maxerror_ns": line.utc_maxerror_ns,
            }
        )
    (tmp_path / "page").write_bytes(Page.from_lines(*lines).to_bytes())
    ticks = str(publication.ticks)
    outcome = timebase_command("convert", "--page", "page", ticks, "--json")
    assert outcome.code == 0, outcome.err
    told = publication.at(publication.ticks)
    assert str(documents(outcome)["rows"][0]["utc_ns"]) == told["utc_ns"]
    (tmp_path / "page").write_bytes(b"short")
    outcome = timebase_command("convert", "--page", "page", ticks)
    assert outcome.code == 1 and "a page has 640" in outcome.err
    os.mkfifo(tmp_path / "pipe")
    assert "regular file" in timebase_command("convert", "--page", "pipe", ticks).err


def test_a_page_that_others_may_write_is_refused(timebase_command, tmp_path):
    """Before its content is looked at: it holds nothing."""
    (tmp_path / "page").write_bytes(b"")
    (tmp_path / "page").chmod(0o666)
    outcome = timebase_command("convert", "--page", "page", "5")
    assert outcome.code == 1 and "may be written by others" in outcome.err


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((), "give ticks"),
        (("5", "--file", "x"), "not both"),
        (("5", "--format", "xml"), "must be one of"),
        (("5", "--page", "x", "--draw-on"), "--page goes without"),
        (("--file", "x", "--separator", "ab"), "one character"),
        (("5", "--json", "--csv"), "not both"),
        (("--file", "x", "--column", "0"), "from 1"),
        (("5", "--column", "2"), "are of --file"),
        (("5", "--format", "perf"), "are of --file"),
        (("5", "abc"), "'abc' is no tick"),
        (("",), "'' is no tick"),
        (("0xg",), "'0xg' is no tick"),
    ],
)
@pytest.mark.parametrize("history", ["timeline", "none-such"])
def test_wrong_options(timebase_command, run, arguments, words, history):
    """They are told first, whether there is a history or not."""
    given = () if "--page" in arguments else ("--timeline", history)
    outcome = timebase_command("convert", *given, *arguments)
    assert outcome.code == 2
    assert words in outcome.err and "no timeline" not in outcome.err
    assert outcome.out == ""


def test_a_file_that_is_not_there_is_told_before_a_history_that_is_not(timebase_command):
    outcome = timebase_command("convert", "--timeline", "none-such", "--file", "missing")
    assert outcome.code == 1
    assert "missing: No such file" in outcome.err and "no timeline" not in outcome.err


def test_what_is_missing_is_named(timebase_command, run):
    outcome = timebase_command("convert", "--timeline", "none", "5")
    assert outcome.code == 1
    assert "there is no timeline: none: no such folder" in outcome.err
    outcome = convert(timebase_command, "--file", "none")
    assert outcome.code == 1
    assert "none" in outcome.err and "Traceback" not in outcome.err


@pytest.mark.parametrize("text", ["-1", "1.5", "0x", "1e5", str(2**64), "9" * 5000, "٣", ""])
def test_what_is_no_tick(text):
    with pytest.raises(NoTickError):
        FORMATS["plain"]("1", ";")(f"{text};")


def test_columns():
    assert FORMATS["plain"]("3", None)("a b 0x10 c") == 16
    assert FORMATS["plain"]("2", ";")("a;7;c") == 7
    assert FORMATS["plain"](None, None)("# 17") is None
    with pytest.raises(NoTickError, match="2 columns"):
        FORMATS["plain"]("3", None)("a b")
    quoted = FORMATS["csv"]("2", None)
    assert quoted('"a,b",8') == 8
    with pytest.raises(InputError, match="the first line has x, y"):
        FORMATS["csv"]("ticks", None)("x,y")
