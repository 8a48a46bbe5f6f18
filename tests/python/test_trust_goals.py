# SPDX-License-Identifier: MIT
"""bench/trust.py: what cannot be measured is missing, what fails has failed; nothing is made up."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def trust(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    about = importlib.util.spec_from_file_location("trust_goals", ROOT / "bench/trust.py")
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    importlib.import_module("chrony")
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


def test_a_table_is_of_one_run(trust, monkeypatch, tmp_path):
    monkeypatch.setattr(trust, "FIGURES", {"first": good, "second": good})
    code, _, text = run(trust, monkeypatch, tmp_path)
    assert code == 0 and "missing" not in text
    code, _, text = run(trust, monkeypatch, tmp_path, "--only", "second")
    assert code == 1 and "| first | missing: not taken |" in text


@pytest.mark.parametrize("arguments", [("--quick",), ("--only", "good")])
def test_part_of_a_run_does_not_replace_the_record(trust, monkeypatch, tmp_path, capsys, arguments):
    monkeypatch.setattr(trust, "FIGURES", {"good": good})
    monkeypatch.setattr(trust.record, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(sys, "argv", ["trust.py", *arguments])
    with pytest.raises(SystemExit):
        trust.main()
    assert "| good" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()
    monkeypatch.setattr(sys, "argv", ["trust.py"])
    with pytest.raises(SystemExit):
        trust.main()
    assert (tmp_path / "results/trust.md").exists()


def test_a_table_names_machine_and_commit(trust, monkeypatch, tmp_path):
    monkeypatch.setattr(trust, "FIGURES", {"good": good})
    monkeypatch.setattr(trust.record, "commit", lambda: "0123456789ab-dirty")
    _, found, text = run(trust, monkeypatch, tmp_path)
    head = text.splitlines()[0]
    assert head.endswith("commit 0123456789ab-dirty.")
    assert head.startswith(f"{found['machine']['processor']}, ")


def test_only_tables_are_kept():
    done = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "bench/results"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("not a git repository")
    kept = done.stdout.split()
    assert kept and all(name.endswith(".md") for name in kept)


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
    counts = dict(
        zip(trust.trust_reads.MAPPED_KEYS, map(int, trust.trust_reads.MAPPED.search(text).groups()))
    )
    assert counts["reads"] == 10**9
    assert (counts["per_second"], counts["backward"], counts["without_a_line"]) == (9998, 3, 12)


def test_truth_is_measured_and_not_read_from_a_record(trust, monkeypatch, tmp_path):
    chrony = sys.modules["chrony"]
    monkeypatch.setattr(chrony.pair, "CHRONYD", "chronyd")
    monkeypatch.setattr(chrony.pair, "CHRONYC", "chronyc")
    monkeypatch.setattr(chrony, "PROBE", ROOT / "bench/chrony.py")  # anything that is there
    asked = []

    def measuring(*offsets):
        def measure(up, down, polls, seed):
            asked.append(polls)
            return {"claims": [{"offset_ns": offset, "error_ns": 10} for offset in offsets]}

        return measure

    monkeypatch.setattr(chrony, "measure", measuring(-6, 11))
    (row,) = trust.trust_daemon.contains_truth(False)
    assert (row["polls"], row["contained"], row["met"]) == (6, 3, False)
    monkeypatch.setattr(chrony, "measure", measuring(-6))
    (row,) = trust.trust_daemon.contains_truth(False)
    assert (row["max_ratio"], row["met"]) == (0.6, True)
    assert asked == [chrony.POLLS] * 6
    (row,) = trust.trust_daemon.contains_truth(True)
    assert not row["met"]
    monkeypatch.setattr(chrony, "measure", measuring())
    with pytest.raises(trust.Failed, match="never synchronised"):
        trust.trust_daemon.contains_truth(False)


def test_without_chrony_the_truth_is_missing(trust, monkeypatch):
    monkeypatch.setattr(sys.modules["chrony"].pair, "CHRONYD", None)
    with pytest.raises(trust.Missing, match="apt install chrony"):
        trust.trust_daemon.contains_truth(False)


def test_every_figure_of_the_table_has_a_function(trust):
    assert len(trust.FIGURES) == 10
    assert all(figure.__name__ == name for name, figure in trust.FIGURES.items())
