# SPDX-License-Identifier: MIT
"""The languages' table and picture: made of lines of JSON, and of nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from timebase.api.errors import InputError
from timebase.report import languages

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
def table():
    sys.path.insert(0, str(ROOT / "bench"))
    import languages as module

    yield module
    sys.path.remove(str(ROOT / "bench"))


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
    assert "Go: time.Now" in html
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


def test_a_language_that_is_not_there_fails():
    done = subprocess.run(
        [ROOT / "scripts/languages", "check", "klingon"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "bindings/klingon/check is not there" in done.stdout
    (ROOT / "build/test-results/languages-check-klingon.count").unlink()
