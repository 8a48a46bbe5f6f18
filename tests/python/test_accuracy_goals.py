# SPDX-License-Identifier: MIT
"""What bench/accuracy.py makes of runs: goals that are about rows that there are, and no figure
where there were too few trials."""

import sys
from pathlib import Path

import pytest

from timebase.accuracy import delay, scenario
from timebase.cli.accuracy_table import PERCENTILES, SHARES, SHOWN, number, signed

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import accuracy as record_of
import accuracy_goals as goals
import accuracy_guide as guide

sys.path.remove(str(BENCH))


def row(name, ns, most=99, **members):
    """A row whose percentiles are all so many ns, as far as it carries them."""
    found = {"name": name, "trials": 1000, "bias_ns": ns, **dict.fromkeys(SHARES.values(), 0.01)}
    for prefix in ("", "raw_"):
        for key in PERCENTILES:
            found[f"{prefix}{key}_ns"] = ns if int(key[1:]) <= most else None
    found["conditions"] = {"busy_share": 0.25, "clock_steps": 2, "blocks": 20}
    return {**found, **members}


def rows(**ns):
    return {name: row(name, value) for name, value in ns.items()}


def goal(words):
    return next(one for one in goals.goals() if one.words == words)


def measured_names():
    """All that a whole run could name, near enough to catch a slip of the pen."""
    near = {*scenario.near_methods(), scenario.STEADY}
    found = {
        f"{name}{subset}" for name in near for subset in ("", "_quiet", "_busy", "_undisturbed")
    }
    for state in scenario.STATES:
        found |= {f"{name}_{state.id}" for name in scenario.methods_of(state)}
    for ns in delay.DELAYS_NS:
        found |= {
            delay.name_of(ns, method) + s for method in delay.DELAYERS for s in ("", "_quiet")
        }
    return found


def test_every_goal_but_those_of_other_experiments_asks_for_rows_that_are_measured():
    elsewhere = ("1khz", "cold")
    asked = set()

    class Asking(dict):
        def __contains__(self, name):
            asked.add(name)
            return False

    for one in goals.goals():
        one.raw(Asking())
    assert {name for name in asked if not name.endswith(elsewhere) and "cold" not in name} <= (
        measured_names()
    )
    assert len(asked) > 20


def test_a_goal_is_met_raw_and_about_the_median():
    near = goal("exact / loop, core quiet, p50")
    good = rows(exact_quiet=1.0, loop_quiet=3.1)
    assert near.is_met([good])
    for key in ("p50_ns", "raw_p50_ns"):
        worse = {**good, "exact_quiet": {**good["exact_quiet"], key: 2.0}}
        assert near.is_met([worse]) is False
        assert near.is_met([good, good, worse])  # by the median of the runs


def test_what_was_not_measured_is_not_met_and_not_missed():
    shared = goal("exact / loop, core shared, p95")
    assert shared.is_met([rows(exact=1.0)]) is None
    few = {name: row(name, 1.0, most=90) for name in ("exact_busy", "loop_busy")}
    assert shared.is_met([few]) is None
    assert next(line for line in goals.lines([few]) if "shared, p95" in line).endswith(
        "| – | – | – |"
    )


def test_the_worst_bias_counts_whatever_its_sign():
    worst = goal("bias, the worst delay of 200 ns to 100 µs")
    assert worst.raw(rows(delay_200ns=0.5, delay_1us=-28.0)) == 28.0
    assert worst.is_met([rows(delay_200ns=0.5, delay_1us=-28.0)]) is False
    assert worst.is_met([rows(delay_200ns=0.5, delay_1us=-0.9)])


def test_rows_are_medians_of_the_runs_and_n_is_of_all():
    runs = [{"rows": [row("loop", ns)]} for ns in (1.0, 2.0, 50.0)]
    line = next(line for line in record_of.scenarios(runs) if "`loop`" in line)
    assert "| 3,000 | 2.0 / 2.0 / 2.0 / 2.0 | +2.0 |" in line
    assert line.endswith("| 25 % | 6 of 60 |")


def test_a_percentile_that_most_runs_cannot_carry_is_a_dash():
    runs = [{"rows": [row("loop", 1.0, most=most)]} for most in (99, 95, 95)]
    line = next(line for line in record_of.scenarios(runs) if "`loop`" in line)
    assert "1.0 / 1.0 / 1.0 / –" in line


@pytest.mark.parametrize(
    "ns, said", [(None, "–"), (0.44, "0.4"), (99.96, "100"), (4321.0, "4,321"), (22_460.0, "22 µs")]
)
def test_numbers_of_the_table(ns, said):
    assert number(ns) == said


@pytest.mark.parametrize("ns, said", [(0.4, "+0.4"), (-0.04, "+0.0"), (-28.56, "-28.6")])
def test_a_bias_has_its_sign(ns, said):
    assert signed(ns) == said


def test_what_is_shown_is_there_once():
    names = [name for shown in SHOWN.values() for name in shown]
    assert len(names) == len(set(names))


def test_the_guides_table_is_written_between_its_marks():
    text = (BENCH.parent / "docs/guide/hit.md").read_text(encoding="utf-8")
    every = [{"loop": row("loop", 30.0, subset="all", share=1.0)}]
    said = guide.replaced(text, list(guide.lines("Some machine.", "", every)))
    assert "| 0.25 to 2 µs ahead: naive loop | 1,000 | 30.0 / 30.0 / 30.0 / 30.0 | +30.0 |" in said
    assert guide.replaced(said, []) == guide.replaced(text, [])
    with pytest.raises(ValueError):
        guide.replaced("nothing of it", [])


def test_the_guides_rows_are_measured():
    elsewhere = {"loop_1khz", "sleep_then_wait_1khz", "loop_cold", "event_cold_rehearsed"}
    assert set(guide.ROWS.values()) <= measured_names() | elsewhere
