# SPDX-License-Identifier: MIT
"""Whether waiting wins over the loop beside it: the rule of timebase.accuracy.verdict."""

import pytest

from timebase.accuracy.verdict import judge
from timebase.report import verdict

KEYS = ("p50", "p90", "p95", "p99")


def row(name, scenario, method, ns, *, raw_ns=None, subset="all", most=99):
    """A row whose percentiles are ns, 2 ns, 3 ns, 4 ns, as far as it can carry them."""
    found = {"name": name, "scenario": scenario, "method": method, "subset": subset}
    for number, key in enumerate(KEYS, 1):
        there = int(key[1:]) <= most
        found[f"{key}_ns"] = number * ns if there else None
        found[f"raw_{key}_ns"] = number * (ns if raw_ns is None else raw_ns) if there else None
    return {**found, "late_share": 0.01, "trials": 1000, "bias_ns": 0.0}


def near(exact_ns, loop_ns=3.0, **of_exact):
    return [
        row("loop", "near", "loop", loop_ns),
        row("exact", "near", "exact", exact_ns, **of_exact),
    ]


def changed(rows, name, **members):
    return [{**found, **(members if found["name"] == name else {})} for found in rows]


def test_a_wait_that_is_below_the_loop_everywhere_wins():
    found = judge(near(1.0))
    assert (found["answer"], found["why"], found["lost"]) == ("yes", [], [])
    assert found["compared"] == 2 * len(KEYS)


@pytest.mark.parametrize("key", ["p50_ns", "raw_p50_ns"])
def test_a_median_that_is_not_below_the_loops_is_a_no(key):
    """Raw or about the median, and as good is not better."""
    for ns in (3.0, 5.0):
        found = judge(changed(near(1.0), "exact", **{key: ns}))
        assert found["answer"] == "no"
        assert "exact: 50 %" in found["why"][0]


@pytest.mark.parametrize("key", [f"{raw}{p}_ns" for p in KEYS[1:] for raw in ("", "raw_")])
def test_a_tail_that_is_not_below_the_loops_is_a_limit(key):
    found = judge(changed(near(1.0), "exact", **{key: 99.0}))
    assert found["answer"] == "limits"
    lost = found["lost"][0]
    assert (lost["percentile"], lost["raw"]) == (key.split("_")[-2], key.startswith("raw"))
    assert len(found["lost"]) == len(found["why"]) == 1


def test_a_bias_alone_is_enough_to_lose():
    """Steady, and steadily wrong."""
    assert judge(near(0.1, raw_ns=30.0))["answer"] == "no"


def test_what_is_lost_while_the_core_is_shared_counts():
    shared = [
        row("loop_busy", "near", "loop", 3.0, subset="busy"),
        row("exact_busy", "near", "exact", 2.0, subset="busy"),
    ]
    assert judge(near(1.0) + shared)["answer"] == "yes"
    found = judge(changed(near(1.0) + shared, "exact_busy", p99_ns=100.0))
    assert found["answer"] == "limits"
    assert "while the core was shared" in found["why"][0]


def test_other_scenarios_can_limit_and_not_refuse():
    asleep = [row("loop_1khz", "1khz", "loop_1khz", 3.0), None]
    asleep[1] = row("sleep_then_wait_1khz", "1khz", "sleep_then_wait_1khz", 4.0)
    found = judge(near(1.0) + asleep)
    assert found["answer"] == "limits"
    assert {lost["percentile"] for lost in found["lost"]} == {"p50", "p90"}  # not its tail


def test_the_steady_wait_is_judged_by_its_tail():
    steady = row("exact_steady", "near", "exact_steady", 100.0)
    steady["p99_ns"] = steady["raw_p99_ns"] = 1.0
    assert judge([*near(1.0), steady])["answer"] == "yes"
    steady["p99_ns"] = 13.0
    assert judge([*near(1.0), steady])["answer"] == "limits"


def test_a_loop_of_another_scenario_is_no_comparison():
    rows = [row("loop_far", "far", "loop", 100.0), row("exact", "near", "exact", 1.0)]
    assert judge(rows)["answer"] is None


def test_too_few_trials_are_no_comparison():
    assert judge(near(1.0, most=50))["compared"] == 2
    found = judge(
        [*near(1.0, most=0), *(row(f"{m}_far", "far", m, 1.0) for m in ("loop", "exact"))]
    )
    assert found["answer"] == "no"
    assert "too few" in found["why"][0]


def test_the_papers_100_ns_are_the_most_a_yes_allows():
    assert judge(near(49.0, loop_ns=60.0))["answer"] == "yes"
    assert judge(near(51.0, loop_ns=60.0))["answer"] == "no"


def test_nothing_measured_is_no_answer():
    assert judge([])["answer"] is None


# ---- in the report


def hit(rows):
    asleep = row("sleep_then_wait_1khz", "1khz", "sleep_then_wait_1khz", 4.0)
    return {"hit": {"problem": None, "rows": [*rows, asleep], "verdict": judge(rows)}}


def test_the_report_says_what_the_rule_says():
    assert verdict._starting(hit(near(1.0)), "yes")["answer"] == "yes"
    use = verdict._starting(hit(near(2.0, loop_ns=2.0)), "yes")
    assert use["answer"] == "no"
    limited = verdict._starting(hit(changed(near(1.0), "exact", p95_ns=9.0)), "yes")
    assert limited["answer"] == "limits"
    assert "exact: 95 % are within 9.0 ns about the median" in limited["why"]
    assert verdict._starting(hit(near(1.0)), "no")["answer"] == "no"


def test_of_the_tick_means_of_the_tick():
    """Errors as they are, not about their median."""
    use = verdict._starting(hit(near(0.5, raw_ns=2.0)), "yes")
    assert "half begin within 2.0 ns of their tick and 99 % within 8.0 ns" in use["why"]
