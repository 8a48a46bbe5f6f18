# SPDX-License-Identifier: MIT
"""The languages' table and picture: made of lines of JSON, and of nothing else."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from timebase.api.errors import InputError
from timebase.report import languages

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def row(language, reading, who, median_ns):
    return {
        "language": language,
        "reading": reading,
        "who": who,
        "median_ns": median_ns,
        "p99_ns": 2 * median_ns,
        "trials": 31,
    }


ROWS = [
    row("C++", "utc_ns", "C inline", 20.0),
    row("C++", "utc_ns", "timebase", 20.2),
    row("Go", "utc_ns", "C inline", 20.0),
    row("Go", "utc_ns", "timebase", 30.0),
    row("Go", "own_clock", "time.Now", 45.0),
]


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")


@pytest.fixture
def table(bench):
    import languages as module

    return module


@pytest.fixture
def torture(bench):
    import torture as module

    return module


def test_goals_are_met_missed_or_not_measured(table):
    lines = "\n".join(table.goals(ROWS))
    assert "| C++ `timebase` utc_ns / C inline | ≤ 1.05 | 1.01 | met |" in lines
    assert "| Go `timebase` utc_ns / C inline | ≤ 1.3 | 1.50 | missed |" in lines
    assert "| Go `timebase` utc_ns / time.Now | ≤ 0.5 | 0.67 | missed |" in lines
    assert "| Rust `timebase` utc_ns / C inline | ≤ 1.05 | not measured | |" in lines


def test_the_table_has_each_row_with_its_ratio_to_c(table):
    lines = table.table(sorted(ROWS, key=table.place))
    assert len(lines) == 2 + len(ROWS)
    assert "| Go | utc_ns | timebase | 30.00 | 60.00 | 1.50 | 31 |" in lines
    assert "| Go | own_clock | time.Now | 45.00 | 90.00 |  | 31 |" in lines


@pytest.mark.parametrize("line", ['{"language": "C++"}', '{"reading": "other"}'])
def test_a_line_that_is_none_is_named(table, tmp_path, line):
    (tmp_path / "cpp.jsonl").write_text(json.dumps(ROWS[0]) + "\n" + line + "\n")
    with pytest.raises(SystemExit, match=r"cpp\.jsonl:2: not a line of a bench"):
        table.read(tmp_path)


def test_the_section_has_a_picture_of_all_rows(tmp_path):
    path = tmp_path / "languages.json"
    machine = {"processor": "a <processor>", "architecture": "x86_64"}
    path.write_text(json.dumps({"machine": machine, "rows": ROWS}))
    html = languages.section(languages.read(path))
    assert html.startswith('<section id="languages">')
    assert "a &lt;processor&gt;" in html
    assert ">time.Now</text>" in html and html.count(">Go</text>") == 1
    assert ">45.0</text>" in html
    assert "var(--ours)" in html
    assert html.count("<svg") == 1
    assert languages.section(None) == ""


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": [{"reading": "utc_ns"}]}'])
def test_what_is_no_such_file_is_refused(tmp_path, text):
    path = tmp_path / "languages.json"
    path.write_text(text)
    with pytest.raises(InputError, match="make languages"):
        languages.read(path)
    with pytest.raises(InputError, match="cannot read"):
        languages.read(tmp_path / "none.json")


# ---- names


def test_all_packages_have_the_project_s_name_and_version_and_no_address():
    """An address that leads nowhere, or to a stranger, is worse than none."""
    version = re.search(r'VERSION "(.+)"', text("include/timebase/version.h"))[1]
    python = tomllib.loads(text("pyproject.toml"))["project"]
    workspace = tomllib.loads(text("bindings/rust/Cargo.toml"))["workspace"]["package"]
    crates = [
        tomllib.loads(text(f"bindings/rust/{crate}/Cargo.toml"))["package"]
        for crate in ("timebase", "timebase-sys")
    ]
    assert python["name"] == crates[0]["name"] == "timebase"
    assert crates[1]["name"] == "timebase-sys"
    assert workspace["version"] == version
    lisp = text("bindings/lisp/timebase.asd")
    assert '(defsystem "timebase"' in lisp and f':version "{version}"' in lisp
    assert "\nmodule timebase.example/timebase\n" in text("bindings/go/go.mod")
    for table in (python, workspace, *crates):
        assert not table.keys() & {"urls", "repository", "homepage", "documentation"}


def test_each_language_has_the_examples_of_c():
    """bindings/LANG/check runs them. Go's are Example functions; parity.txt says what it has not."""
    c = {path.stem for path in (ROOT / "examples").glob("*.c")} - {"work"}  # for `timebase run`
    assert len(c) >= 8
    named = {path.stem for path in (ROOT / "bindings/cpp/examples").glob("*.cpp")}
    assert c <= named
    as_in_python = c - {"hit"} | {"wait"}
    for language, pattern in (("rust/timebase", "*.rs"), ("lisp", "*.lisp")):
        folder = ROOT / "bindings" / language / "examples"
        assert as_in_python <= {path.stem.replace("-", "_") for path in folder.glob(pattern)}
    go = re.findall(r"^func Example_(\w+)", text("bindings/go/example_test.go"), re.MULTILINE)
    snake = {re.sub("([A-Z])", r"_\1", name).lower() for name in go}
    assert snake == c - {"hit", "calendar", "realtime"}


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


# ---- readings under a live writer


def logs_of_torture(folder, **lines):
    for language in ("cpp", "rust", "go", "lisp"):
        line = lines.get(language, "torture: Common Lisp, ECL: 1 readings, 0 without a line, {}")
        wrong = "0 torn, 0 backwards"
        (folder / f"torture-{language}.log").write_text(f"before\n{line.format(wrong)}\nafter\n")


def test_readings_under_a_writer_are_those_of_the_logs(torture, tmp_path):
    logs_of_torture(
        tmp_path,
        cpp="torture: C++, native: 200000000 readings, 17 without a line, {}",
        rust="torture: Rust, native: 200000001 readings, 2 without a line, 1 torn, 0 backwards",
        go="torture: Go, ppc64 emulated: 500000 readings, 0 without a line, {}",
    )
    lines = "\n".join(torture.table(torture.read(tmp_path)))
    assert "| C++, native | 200,000,000 | 17 | 0 | 0 | met |" in lines
    assert "| Rust, native | 200,000,001 | 2 | 1 | 0 | missed |" in lines
    assert "| Go, ppc64 emulated | 500,000 | 0 | 0 | 0 |  |" in lines
    assert "| Go, native | not tried | | | | missed |" in lines
    assert "| Common Lisp, ECL | 1 | 0 | 0 | 0 | missed |" in lines


def test_a_language_whose_log_tells_of_no_readings_is_named(torture, tmp_path):
    with pytest.raises(SystemExit, match="scripts/languages torture cpp"):
        torture.read(tmp_path)
    logs_of_torture(tmp_path, go="FAIL")
    with pytest.raises(SystemExit, match="torture-go.log: no readings"):
        torture.read(tmp_path)


# ---- scripts/languages, with languages of one line


@pytest.fixture
def languages_of(tmp_path):
    """A tree that has scripts/languages, and for each language a check of these lines."""

    def run(*arguments, **checks):
        (tmp_path / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/languages", tmp_path / "scripts")
        for language, lines in checks.items():
            folder = tmp_path / "bindings" / language
            folder.mkdir(parents=True)
            (folder / "check").write_text("#!/bin/sh\n" + lines)
            (folder / "check").chmod(0o755)
        command = [tmp_path / "scripts/languages", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def counts(tmp_path):
    files = (tmp_path / "build/test-results").glob("*.count")
    return {path.stem: path.read_text().strip() for path in files}


def test_two_languages_are_tried_at_the_same_time(languages_of, tmp_path):
    """Each waits for the other: a pipe is opened when both ends are."""
    os.mkfifo(tmp_path / "pipe")
    done = languages_of(
        *["check-quick", "latin", "greek"],
        latin=f"echo word >{tmp_path}/pipe; echo '3 passed, 0 failed'",
        greek=f"read word <{tmp_path}/pipe; echo $word; echo '4 passed, 0 failed'",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    expected = {"latin": "3 passed, 0 failed", "greek": "4 passed, 0 failed"}
    assert counts(tmp_path) == {f"languages-quick-{k}": v for k, v in expected.items()}
    assert (tmp_path / "build/languages/greek.log").read_text().startswith("word\n")


def test_languages_are_tortured_one_after_the_other(languages_of, tmp_path):
    """A folder can be made once at a time."""
    alone = f"mkdir {tmp_path}/at-work && sleep 0.1 && rmdir {tmp_path}/at-work && echo $1"
    lines = alone + " && echo '2 passed, 0 failed'"
    done = languages_of("torture", "latin", "greek", latin=lines, greek=lines)
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts(tmp_path)["languages-torture-greek"] == "2 passed, 0 failed"
    log = tmp_path / "build/languages/torture-latin.log"
    assert log.read_text() == "--torture\n2 passed, 0 failed\n"


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ("echo why; echo '3 passed, 2 failed'; exit 1", "3 passed, 2 failed"),
        ("echo why; echo '3 passed, 0 failed'; exit 1", "3 passed, 1 failed"),
        ("echo why; echo '3 passed, 0 failed, 1 skipped'; exit 1", "3 passed, 1 failed, 1 skipped"),
        ("echo why; echo '0 passed, 0 failed'", "0 passed, 0 failed"),
        ("echo why", "0 passed, 1 failed"),
    ],
)
def test_a_failure_is_told_with_the_end_of_its_log(languages_of, tmp_path, lines, count):
    done = languages_of(
        *["check", "latin", "greek"], latin=lines, greek="echo fine; echo '4 passed, 0 failed'"
    )
    assert done.returncode == 1
    assert counts(tmp_path)["languages-check-latin"] == count
    assert counts(tmp_path)["languages-check-greek"] == "4 passed, 0 failed"
    assert "    why\n" in done.stdout and "fine" not in done.stdout


def test_what_only_root_can_try_is_counted_apart(languages_of, tmp_path):
    done = languages_of("check", "latin", latin="echo '3 passed, 0 failed, 2 skipped'")
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts(tmp_path) == {"languages-check-latin": "3 passed, 0 failed, 2 skipped"}


def test_a_language_that_is_not_there_fails(languages_of, tmp_path):
    done = languages_of("check", "klingon")
    assert done.returncode == 1
    assert "bindings/klingon/check is not there" in done.stdout
    assert counts(tmp_path) == {"languages-check-klingon": "0 passed, 1 failed"}
