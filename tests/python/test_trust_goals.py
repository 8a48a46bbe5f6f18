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


def reaching(reached, met=True):
    def figure(_quick):
        return [{"name": "good", "must": "1", "reached": reached, "met": met}]

    return figure


good = reaching("1")


def raising(problem):
    def figure(_quick):
        raise problem

    return figure


def of_day(trust, monkeypatch, date, commit):
    """What a run that begins now says of itself."""
    monkeypatch.setattr(trust.record, "commit", lambda: commit)
    monkeypatch.setattr(trust.record.time, "strftime", lambda _form: date)


def test_what_is_missing_is_said_and_is_no_success(trust, monkeypatch, tmp_path):
    figures = {"good": good, "absent": raising(trust.Missing("a daemon"))}
    monkeypatch.setattr(trust, "FIGURES", figures)
    code, found, text = run(trust, monkeypatch, tmp_path)
    assert code == 1
    assert found["figures"]["absent"]["rows"] == []
    assert "| absent | missing: a daemon |" in text
    assert "| good | good | 1 | 1 | yes |" in text


def test_what_fails_is_not_called_missing(trust, monkeypatch, tmp_path):
    monkeypatch.setattr(trust, "FIGURES", {"hang": raising(trust.Failed("a | b\nhangs"))})
    code, found, text = run(trust, monkeypatch, tmp_path)
    assert code == 1
    assert found["figures"]["hang"]["missing"] is None
    assert "| failed: a / b hangs | " in text and "**no**" in text


def test_what_has_no_goal_is_neither_met_nor_missed(trust, monkeypatch, tmp_path):
    monkeypatch.setattr(trust, "FIGURES", {"width": reaching("3 ns", None)})
    code, _, text = run(trust, monkeypatch, tmp_path)
    assert code == 0 and "| 3 ns | 1 | | 20" in " ".join(text.split())


def test_a_part_taken_again_leaves_the_others_with_their_run(trust, monkeypatch, tmp_path):
    monkeypatch.setattr(trust, "FIGURES", {"first": good, "second": good, "third": good})
    of_day(trust, monkeypatch, "2026-11-21", "aaaaaaaaaaaa")
    code, _, text = run(trust, monkeypatch, tmp_path, "--only", "first", "--only", "second")
    assert code == 0 and "| third | missing: not taken |" in text
    (first,) = (line for line in text.splitlines() if line.startswith("| first |"))
    assert "| 2026-11-21, aaaaaaaaaaaa, load " in first

    of_day(trust, monkeypatch, "2026-11-22", "bbbbbbbbbbbb")
    monkeypatch.setitem(trust.FIGURES, "second", reaching("2"))
    code, found, text = run(trust, monkeypatch, tmp_path, "--only", "second")
    lines = text.splitlines()
    assert code == 0 and first in lines
    assert "| second | good | 2 | 1 | yes | 2026-11-22, bbbbbbbbbbbb, load " in text
    assert set(found["figures"]) == {"first", "second"}  # the samples stay, too
    assert lines[0].endswith("2026-11-22, commit bbbbbbbbbbbb.")
    (other,) = (line for line in lines if line.startswith("- "))
    assert other.endswith(", 2026-11-21, commit aaaaaaaaaaaa.")

    code, _, text = run(trust, monkeypatch, tmp_path)
    assert code == 0 and "aaaaaaaaaaaa" not in text and "\n- " not in text


def test_a_trial_does_not_replace_a_figure(trust, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(trust, "FIGURES", {"old_ticks": good})
    code, _, text = run(trust, monkeypatch, tmp_path, "--seconds", "2400")
    assert code == 1 and "(trial: not for the record)" in text  # better than nothing
    code, _, text = run(trust, monkeypatch, tmp_path)
    assert code == 0 and "trial" not in text

    monkeypatch.setitem(trust.FIGURES, "old_ticks", reaching("2"))
    capsys.readouterr()
    for trial in (("--seconds", "2400"), ("--quick",)):
        code, found, again = run(trust, monkeypatch, tmp_path, *trial)
        said = capsys.readouterr()
        assert code == 1 and again == text
        assert found["figures"]["old_ticks"]["rows"][0]["reached"] == "1"
        assert "not recorded: old_ticks: this was a trial" in said.err
        assert "| 2 |" in said.out


def test_what_is_missing_does_not_replace_a_figure(trust, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(trust, "FIGURES", {"good": good})
    _, _, text = run(trust, monkeypatch, tmp_path)
    monkeypatch.setitem(trust.FIGURES, "good", raising(trust.Missing("a daemon")))
    code, _, again = run(trust, monkeypatch, tmp_path)
    assert code == 1 and again == text
    assert "missing: a daemon; the recorded figure stays" in capsys.readouterr().err


def test_old_ticks_are_an_hour_old_unless_asked_otherwise(trust, monkeypatch, tmp_path):
    asked = []

    def figure(_quick):
        asked.append(trust.trust_daemon.old_ticks_sec)
        return good(_quick)

    monkeypatch.setattr(trust, "FIGURES", {"old_ticks": figure})
    run(trust, monkeypatch, tmp_path, "--seconds", "5")
    run(trust, monkeypatch, tmp_path)
    assert asked == [5, 3600]


@pytest.mark.parametrize(
    "arguments, is_recorded", [(("--quick",), False), (("--only", "good"), True)]
)
def test_a_quick_run_does_not_touch_the_record(
    trust, monkeypatch, tmp_path, capsys, arguments, is_recorded
):
    monkeypatch.setattr(trust, "FIGURES", {"good": good})
    monkeypatch.setattr(trust.record, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(sys, "argv", ["trust.py", *arguments])
    with pytest.raises(SystemExit):
        trust.main()
    assert "| good" in capsys.readouterr().out
    assert (tmp_path / "results/trust.md").exists() == is_recorded


def test_a_table_names_machine_and_commit(trust, monkeypatch, tmp_path):
    monkeypatch.setattr(trust, "FIGURES", {"good": good})
    commits = iter(["0123456789ab", "another: asked while the run goes on"])
    monkeypatch.setattr(trust.record, "commit", lambda: next(commits))
    _, found, text = run(trust, monkeypatch, tmp_path)
    head = text.splitlines()[0]
    assert head.endswith("commit 0123456789ab.")
    assert head.startswith(f"{found['figures']['good']['machine']['processor']}, ")


def test_the_kept_record_is_understood(trust):
    text = (ROOT / "bench/results/trust.md").read_text(encoding="utf-8")
    table = trust.trust_record.Table(text)
    assert table.headings and set(table.parts) == set(trust.FIGURES)
    assert table.lines(trust.FIGURES) == text.splitlines()


def test_written_tables_do_not_make_a_tree_dirty(trust, tmp_path):
    def git(*arguments):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", tmp_path, *arguments]
        subprocess.run(command, check=True, capture_output=True)

    try:
        git("init")
    except FileNotFoundError:
        pytest.skip("no git")
    files = [tmp_path / "bench/results/trust.md", tmp_path / "bench/trust.py"]
    files[0].parent.mkdir(parents=True)
    for file in files:
        file.write_text("1")
    git("add", ".")
    git("commit", "-m", "files: add")
    commit = trust.record.commit(tmp_path)
    assert len(commit) == 12
    files[0].write_text("2")
    assert trust.record.commit(tmp_path) == commit
    files[1].write_text("2")
    assert trust.record.commit(tmp_path) == f"{commit}-dirty"


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
    assert found["figures"]["good"]["trial"]
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
    assert len(trust.FIGURES) == 11
    assert all(figure.__name__ == name for name, figure in trust.FIGURES.items())


def reading(error_ns, bracket_ns=10, maxerror_ns=1000, esterror_ns=5, status="SYNCHRONIZED"):
    return {
        "error_ns": error_ns,
        "bracket_ns": bracket_ns,
        "maxerror_ns": maxerror_ns,
        "esterror_ns": esterror_ns,
        "status": status,
    }


def test_readings_within_an_error_are_counted_less_half_the_bracket(trust):
    quiet = [reading(0)] * 996 + [reading(5), reading(-15)]
    trials = [[*quiet, reading(16), reading(-16)], [*quiet, reading(15), reading(1011)]]
    rows = trust.trust_errors.rows("a clock", trials, trust.trust_errors.FULL)
    width, estimate, bound_width, bound = rows
    assert [row["met"] for row in rows] == [True, False, None, False]
    assert (estimate["readings"], estimate["within"], estimate["within_raw"]) == (
        2000,
        [998, 999],
        1994,
    )
    assert estimate["reached"] == (
        "99.85 %: 1,997 of 2,000, worst of 2 trials of 300 s 99.80 %; nothing taken off (half a "
        "bracket is 10 ns): 1,994"
    )
    assert (bound["within"], bound["within_raw"], bound["must"]) == ([1000, 999], 1999, "all")
    assert (width["must"], bound_width["must"]) == ("p50 ≤ 20 ns", "")
    assert estimate["readings_of_trials"] == [1000, 1000]
    assert estimate["statuses"] == {"SYNCHRONIZED": 2000}


def test_the_goal_of_coverage_is_met_exactly(trust):
    def met(outside):
        readings = [reading(0)] * (1000 - outside) + [reading(100)] * outside
        return trust.trust_errors.rows("a clock", [readings], trust.trust_errors.FULL)[1]["met"]

    assert met(1) and not met(2)


def test_widths_are_percentiles_of_what_the_clock_told(trust):
    readings = [reading(0, esterror_ns=one, maxerror_ns=100 * one) for one in range(1, 1001)]
    est, _, most, _ = trust.trust_errors.rows("a clock", [readings], trust.trust_errors.FULL)
    assert (est["p50_ns"], est["p99_ns"], est["max_ns"]) == (500, 990, 1000)
    assert est["reached"] == "500 / 990 / 1,000 ns" and not est["met"]
    assert (most["p50_ns"], most["max_ns"], most["met"]) == (50_000, 100_000, None)


def test_almost_all_is_not_rounded_to_all(trust):
    share = trust.trust_errors.share
    assert (share(99_999, 100_000), share(5, 5), share(999, 1000)) == (
        "99.99 %",
        "100.00 %",
        "99.90 %",
    )
