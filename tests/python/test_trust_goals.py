# SPDX-License-Identifier: MIT
"""bench/trust.py: what cannot be measured is missing, what fails has failed; nothing is made up."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def trust(monkeypatch):
    about = importlib.util.spec_from_file_location("trust_goals", ROOT / "bench/trust.py")
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    return module


def run(trust, monkeypatch, out, *arguments):
    monkeypatch.setattr(sys, "argv", ["trust.py", "--out", str(out), *arguments])
    with pytest.raises(SystemExit) as ended:
        trust.main()
    text = (out / "trust.md").read_text(encoding="utf-8")
    return ended.value.code, json.loads((out / "trust.json").read_text(encoding="utf-8")), text


def good(_quick):
    return [{"name": "good", "must": "1", "reached": "1", "met": True}]


def raising(problem):
    def figure(_quick):
        raise problem

    return figure


def test_what_is_missing_is_said_and_is_no_success(trust, monkeypatch, tmp_path):
    figures = {"good": good, "absent": raising(trust.Missing("a daemon"))}
    monkeypatch.setattr(trust, "FIGURES", figures)
    code, found, text = run(trust, monkeypatch, tmp_path)
    assert code == 1
    assert found["figures"]["absent"]["rows"] == []
    assert "| absent | missing: a daemon |" in text
    assert "| good | 1 | 1 | yes |" in text


def test_what_fails_is_not_called_missing(trust, monkeypatch, tmp_path):
    monkeypatch.setattr(trust, "FIGURES", {"hang": raising(trust.Failed("a reader hangs"))})
    code, found, text = run(trust, monkeypatch, tmp_path)
    assert code == 1
    assert found["figures"]["hang"]["missing"] is None
    assert "failed: a reader hangs" in text and "**no**" in text


def test_one_figure_is_renewed_and_the_others_stay(trust, monkeypatch, tmp_path):
    monkeypatch.setattr(trust, "FIGURES", {"first": good, "second": good})
    code, _, text = run(trust, monkeypatch, tmp_path, "--only", "first")
    assert code == 1 and "| second | missing: not taken yet |" in text
    code, _, text = run(trust, monkeypatch, tmp_path, "--only", "second")
    assert code == 0 and "missing" not in text


def test_a_quick_run_is_marked_as_none_for_the_record(trust, monkeypatch, tmp_path):
    monkeypatch.setattr(trust, "FIGURES", {"good": good})
    _, found, text = run(trust, monkeypatch, tmp_path, "--quick")
    assert found["figures"]["good"]["quick"]
    assert "not for the record" in text and "yes" not in text


def test_the_publishers_result_is_understood(trust):
    text = (
        "1000000000 reads by 2 processes, 310210 publications (9998 a second), 0 late, 0 torn, "
        "3 backward (worst 7 ns), 12 without a line\n"
    )
    counts = dict(zip(trust.MAPPED_KEYS, map(int, trust.MAPPED.search(text).groups())))
    assert counts["reads"] == 10**9
    assert (counts["per_second"], counts["backward"], counts["without_a_line"]) == (9998, 3, 12)


def test_a_record_without_the_numbers_is_no_figure(trust, monkeypatch, tmp_path):
    record = tmp_path / "bench/results/chrony.json"
    record.parent.mkdir(parents=True)
    monkeypatch.setattr(trust, "ROOT", tmp_path)
    for text in ("{}", '{"networks": 3}', '{"networks": {"one": {"claims": []}}}'):
        record.write_text(text)
        with pytest.raises(trust.Missing):
            trust.contains_truth(False)
    claims = [{"offset_ns": -6, "error_ns": 10}, {"offset_ns": 11, "error_ns": 10}]
    record.write_text(json.dumps({"networks": {"one": {"claims": claims}}}))
    (row,) = trust.contains_truth(False)
    assert (row["polls"], row["contained"], row["met"]) == (2, 1, False)
    record.write_text(json.dumps({"networks": {"one": {"claims": claims[:1]}}}))
    (row,) = trust.contains_truth(False)
    assert (row["max_ratio"], row["met"]) == (0.6, True)


def test_the_record_of_chrony_is_read(trust):
    (row,) = trust.contains_truth(False)
    assert row["polls"] > 0 and row["reached"].startswith(f"{row['contained']} of")


def test_every_figure_of_the_table_has_a_function(trust):
    assert len(trust.FIGURES) == 10
    assert all(figure.__name__ == name for name, figure in trust.FIGURES.items())
