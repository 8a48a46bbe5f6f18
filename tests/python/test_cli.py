# SPDX-License-Identifier: MIT
"""Verbs, their JSON, their exit codes, and what they say to wrong input."""

import json
import os
import re
import subprocess
import sys

import jsonschema
import pytest
from shared_pages import write_page

from timebase import schemas
from timebase.api.errors import MissingModulesError
from timebase.bench.compare import changes

READY, NOT_READY, WRONG_INPUT = 0, 1, 2
VERBS = (
    "now",
    "doctor",
    "status",
    "watch",
    "bench",
    "accuracy",
    "run",
    "report",
    "convert",
    "cpus",
)
BENCH_QUICKLY = ("bench", "--rounds", "5", "--calls", "100")
WANTED_ROWS = {
    "counter",
    "counter_ordered",
    "utc_unordered",
    "utc",
    "mono",
    "utc_interval",
    "clock_gettime_realtime",
    "clock_gettime_monotonic",
    "gettimeofday",
    "clock_gettime_syscall",
    "tb_nano_2007",
    "tb_libc_2007",
    "page_updated_1khz",
}


def valid(outcome, verb):
    document = json.loads(outcome.out)
    jsonschema.Draft202012Validator(schemas.load(verb)).validate(document)
    return document


def test_now(timebase_command):
    outcome = timebase_command("now")
    assert outcome.code == 0
    assert "UTC" in outcome.out


def test_now_says_both_errors():
    from timebase.cli.now import _realtime_error

    document = {"status": "FREERUNNING", "esterror_ns": 5, "maxerror_ns": 30_000}
    assert _realtime_error(document) == "5 ns, certainly within 30.0 µs"
    assert "no bound" in _realtime_error({**document, "status": "UNKNOWN"})


def test_now_json(timebase_command):
    outcome = timebase_command("now", "--json")
    assert outcome.code == 0
    document = valid(outcome, "now")
    assert document["utc"].endswith(f"{document['utc_ns'] % 10**9:09d}Z")


def test_bench_json(timebase_command):
    outcome = timebase_command(*BENCH_QUICKLY, "--json")
    assert outcome.code == 0, outcome.err
    document = valid(outcome, "bench")
    rows = {row["name"]: row for row in document["rows"]}
    assert WANTED_ROWS <= rows.keys()
    assert len(rows) == len(document["rows"])
    for row in rows.values():
        assert row["min_ns"] <= row["median_ns"] <= row["p90_ns"]
    assert rows["counter"]["ratio_to_counter"] == 1


def test_bench_table(timebase_command):
    outcome = timebase_command(*BENCH_QUICKLY)
    assert outcome.code == 0
    assert "tb_nano_2007" in outcome.out


def test_bench_is_set_beside_an_earlier_one(timebase_command, tmp_path):
    old = tmp_path / "old.json"
    old.write_text(timebase_command(*BENCH_QUICKLY, "--json").out)
    outcome = timebase_command(*BENCH_QUICKLY, "--compare", "old.json")
    assert outcome.code == 0, outcome.err
    assert "median then" in outcome.out and "tb_nano_2007" in outcome.out
    assert "Not the same machine" not in outcome.out
    document = json.loads(old.read_text())
    document["machine"]["kernel"] = "2.4.0"
    old.write_text(json.dumps(document))
    outcome = timebase_command(*BENCH_QUICKLY, "--compare", "old.json")
    assert "Not the same machine as then: kernel: 2.4.0 -> " in outcome.out


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"rows": [{}], "machine": {}}', "\x00"])
def test_what_bench_has_not_written_is_not_compared(timebase_command, tmp_path, content):
    (tmp_path / "old.json").write_text(content)
    outcome = timebase_command("bench", "--compare", "old.json")
    assert outcome.code == WRONG_INPUT
    assert "old.json is not what timebase bench --json writes" in outcome.err
    assert "Traceback" not in outcome.err and outcome.out == ""


def test_a_row_is_slower_or_faster_only_if_its_range_has_left_the_others():
    def row(name, least, median, p90):
        return {"name": name, "min_ns": least, "median_ns": median, "p90_ns": p90}

    old = {
        "rows": [
            row("a", 10, 11, 12),
            row("b", 10, 11, 12),
            row("c", 10, 11, 12),
            row("d", 1, 1, 1),
        ]
    }
    new = {
        "rows": [row("a", 13, 22, 23), row("b", 12, 22, 23), row("c", 8, 8.8, 9), row("e", 1, 1, 1)]
    }
    found = {one.name: (one.verdict, one.ratio) for one in changes(old, new)}
    assert found == {
        "a": ("slower", 2),
        "b": ("", 2),
        "c": ("faster", pytest.approx(0.8)),
        "e": ("new", None),
        "d": ("gone", None),
    }


def test_bench_references_json(timebase_command):
    outcome = timebase_command("bench", "--references", "--seconds", "0.2", "--json")
    assert outcome.code == 0, outcome.err
    rows = {row["name"]: row for row in valid(outcome, "references")["rows"]}
    assert set(rows) == {"kernel", "hpet", "acpi_pm", "rtc"}
    assert rows["kernel"]["problem"] is None
    assert rows["kernel"]["against_kernel"] is None
    for row in rows.values():
        if row["problem"] is not None:
            assert row["problem"]["error"] in {
                "NOT_FOUND",
                "PERMISSION",
                "UNSUPPORTED",
                "REFERENCE",
                "FORMAT",
            }
            assert all(row[key] is None for key in row if key not in ("name", "problem"))
        else:
            assert row["same"] <= row["reads"]
            assert row["read_ns"]["least"] <= row["read_ns"]["median"] <= row["read_ns"]["p99"]
            assert (row["edge"] is not None) == row["sees_edge"]
            assert row["plain"]["kept"] <= row["plain"]["taken"]


def test_bench_references_table(timebase_command):
    outcome = timebase_command("bench", "--references", "--seconds", "0.1")
    assert outcome.code == 0, outcome.err
    for title in ("kernel's raw clock", "HPET", "ACPI PM timer", "battery clock"):
        assert title in outcome.out


def test_doctor_json(timebase_command):
    outcome = timebase_command("doctor", "--json")
    document = valid(outcome, "doctor")
    critical = [found for found in document["findings"] if found["severity"] == "critical"]
    assert document["ready"] == (not critical)
    assert outcome.code == (READY if document["ready"] else NOT_READY)


def test_doctor_looks_at_work_at_an_exact_instant_on_the_cpu_it_is_given(timebase_command):
    cpu = min(os.sched_getaffinity(0))
    document = valid(timebase_command("doctor", "--json", "--cpu", str(cpu)), "doctor")
    assert document["realtime"]["cpu"] == cpu
    assert document["realtime"]["measured"]["wakeups"]["sleeps"] > 0


@pytest.mark.parametrize("cpu", ["-1", "8191", "1e3", "one"])
def test_doctor_refuses_a_cpu_that_is_not_there(timebase_command, cpu):
    outcome = timebase_command("doctor", "--cpu", cpu)
    assert outcome.code == 2
    assert "--cpu" in outcome.err
    assert not outcome.out


def test_doctor_table_ends_with_the_answer(timebase_command):
    outcome = timebase_command("doctor")
    last = outcome.out.rsplit("Is this machine fit for", 1)[1]
    answers = dict(
        re.findall(r"^(reading|sharing|work).*?  (yes|with limits|no)\b", last, re.MULTILINE)
    )
    assert set(answers) == {"reading", "sharing", "work"}
    assert (answers["reading"] == "no") == (outcome.code == NOT_READY)


def test_doctor_without_the_counter_is_not_ready(timebase_command):
    outcome = timebase_command("doctor", "--json", environment={"TIMEBASE_COUNTER": "os"})
    document = valid(outcome, "doctor")
    assert outcome.code == NOT_READY
    assert not document["ready"]
    assert "counter-unreadable" in {found["id"] for found in document["findings"]}


def test_the_counter_of_last_resort_tells_the_time_too(timebase_command):
    outcome = timebase_command("now", "--json", environment={"TIMEBASE_COUNTER": "os"})
    assert outcome.code == 0
    valid(outcome, "now")


@pytest.mark.parametrize("value", ["", "tsc", "OS", "0"])
def test_nonsense_counter_is_refused(timebase_command, value):
    outcome = timebase_command("now", environment={"TIMEBASE_COUNTER": value})
    assert outcome.code == WRONG_INPUT
    assert "TIMEBASE_COUNTER" in outcome.err
    assert "auto" in outcome.err and "os" in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate",),
        ("now", "--frobnicate"),
        ("bench", "--rounds", "0"),
        ("bench", "--rounds", "many"),
        ("bench", "--calls", "-1"),
        ("bench", "--references", "--seconds", "0"),
        ("bench", "--seconds", "2"),
        ("bench", "--compare", "no-such.json"),
        ("bench", "--compare", "no-such.json", "--json"),
        ("report", "--out"),
    ],
)
def test_wrong_arguments(timebase_command, arguments):
    outcome = timebase_command(*arguments)
    assert outcome.code == WRONG_INPUT
    assert outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize(
    "verb, option, words",
    [
        ("status", "--page", "[default: /run/timebase/page]"),
        ("status", "--metrics", "[default: metrics.prom beside the page]"),
        ("watch", "--page", "[default: /run/timebase/page]"),
        ("watch", "--interval", "[default: 1s]"),
        ("run", "--help", "Show this message"),
    ],
)
def test_help_tells_defaults_and_gives_flags_no_value(timebase_command, verb, option, words):
    said = " ".join(timebase_command(verb, "--help").out.split())
    begin = said.index(f" {option} ")
    assert words in said[begin : said.find(" --", begin + 3) if option != "--help" else None]
    assert "bool" not in said


@pytest.mark.parametrize("verb", [(), *((verb,) for verb in VERBS)])
def test_help_fits_80_columns_and_cuts_no_sentence(timebase_command, verb):
    said = timebase_command(*verb, "--help", environment={"COLUMNS": "80"}).out
    assert max(map(len, said.splitlines())) <= 80
    assert not re.search(r"\w\.\.\.$", said, re.MULTILINE), said
    assert "<" not in said.replace("<=", ""), "a value is named by its type"


@pytest.mark.parametrize(
    ("file", "words"), [("missing", "missing: No such file"), (".", ".: Is a directory")]
)
def test_a_file_that_cannot_be_read_is_named_without_numbers(
    timebase_command, tmp_path, file, words
):
    page = write_page(tmp_path)
    outcome = timebase_command("convert", "--page", str(page), "--file", file)
    assert outcome.code == 1
    assert words in outcome.err and "Errno" not in outcome.err


OUTPUTS = [
    ("now",),
    ("now", "--json"),
    ("watch", "--private", "--count=1"),
    ("run", "c.toml", "--for=10ms", "--no-realtime"),
]


def redirected(to, tmp_path, words):
    (tmp_path / "c.toml").write_text('[[unit]]\nname = "a"\nduration = "1ms"\nnone = true\n')
    program = [sys.executable, "-c", "from timebase.cli import main; main()", *words]
    command = ["sh", "-c", f'exec "$@" {to}', "sh", *program]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    return subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
    )


@pytest.mark.parametrize("words", OUTPUTS)
def test_who_closes_the_output_is_told_nothing(tmp_path, words):
    done = redirected(">&-", tmp_path, words)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_output_that_is_full_is_named_without_numbers(tmp_path):
    done = redirected(">/dev/full", tmp_path, ("now",))
    assert (done.returncode, done.stderr) == (1, "timebase: No space left on device\n")


def test_an_output_that_nobody_reads_any_more_is_no_words(tmp_path):
    done = redirected("| true", tmp_path, ("now", "--json"))
    assert done.stderr == ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("now", "--page=none"),
        ("watch", "--page=none", "--count=1"),
        ("watch", "--private", "--count=1"),
    ],
)
def test_a_terminal_that_lacks_a_character_is_told_its_number(
    timebase_command, encoding, arguments
):
    outcome = timebase_command(*arguments, environment={"PYTHONIOENCODING": encoding})
    assert "Traceback" not in outcome.err and outcome.code in (0, 1)
    if "--private" not in arguments:
        assert "\\u2192 Start" in outcome.out + outcome.err


def test_what_is_not_installed_is_named_with_what_installs_it():
    """And no package by the name of this project, which the package index has not given us."""
    problem = MissingModulesError("timebase run", ["numpy", "prometheus_client"])
    assert str(problem) == "timebase run needs numpy, prometheus_client"
    assert problem.advice == (
        "pip install numpy prometheus_client, "
        "or on Debian: apt install python3-numpy python3-prometheus-client"
    )


def test_without_the_library_of_the_command_line_it_says_what_it_needs():
    code = "import sys; sys.modules['typer'] = None; from timebase.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "needs typer, rich" in done.stderr and "pip install typer rich" in done.stderr
    assert "Traceback" not in done.stderr


def test_version_and_help(timebase_command):
    assert timebase_command("--version").out.startswith("timebase ")
    listed = timebase_command("--help").out
    for verb in VERBS:
        assert verb in listed


def test_every_verb_has_a_schema_that_is_one():
    for verb in VERBS:
        jsonschema.Draft202012Validator.check_schema(schemas.load(verb))


def test_now_imports_nothing_heavy():
    code = "import sys; from timebase.cli.now import read; read(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "matplotlib", "jinja2", "pycparser"}
