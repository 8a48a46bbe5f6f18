# SPDX-License-Identifier: MIT
"""The measurements give what they say. Nothing here asserts how long anything took."""

import pytest
from lateness import in_time, statistics_with_a_pace

from timebase import default_clock
from timebase.api.errors import TimebaseError
from timebase.api.library import check, ffi, lib
from timebase.bench import causality, cost, figure1, stopwatch, tracking
from timebase.bench.causality import cpu_pairs
from timebase.bench.placement import allowed_cpus, pinned, quiet_cpu


def test_pinned_comes_back():
    before = allowed_cpus()
    with pinned(quiet_cpu()):
        assert allowed_cpus() == [quiet_cpu()]
    assert allowed_cpus() == before


def test_cost_reports_progress_to_the_end():
    shares = []
    cost.run(rounds=7, calls=50, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_rows_out_of_range_have_no_name():
    assert lib.timebase_bench_row_name(-1) == ffi.NULL
    assert lib.timebase_bench_row_name(lib.timebase_bench_rows()) == ffi.NULL
    assert lib.timebase_bench_batch(-1, ffi.new("uint64_t *", 1)) == 0


def test_figure1_has_a_time_for_each_point():
    found = figure1.run(most=1000, points=4, repeats=1)
    assert found["calls"] == [250, 500, 750, 1000]
    for name in figure1.NAMES:
        assert len(found["time_us"][name]) == 4
        assert all(0 < time < float("inf") for time in found["time_us"][name])


def test_the_articles_clock_steps_by_954_ns():
    statistics_with_a_pace(default_clock())
    found = figure1.resolution()
    steps = {step["step_ns"] for step in found["tb_nano_2007_steps_ns"][:2]}
    assert steps == {953, 954}  # 10^9 / 2^20 = 953.67
    assert found["utc_steps_ns"][0]["step_ns"] < 953


def test_the_articles_clock_is_late_by_its_rounding_only():
    """Twice rounded down to 2^-20 s, at the update and at the reading."""
    statistics_with_a_pace(default_clock())  # without one, the article's clock stands still
    found = figure1.resolution()
    elapsed, ours, theirs = (found[name] for name in ("elapsed_ns", "utc_ns", "tb_nano_2007_ns"))
    for i in range(len(elapsed) - 1):
        # It stays on the line of its update, whose pace may be new; and is read after ours.
        drift = 0.01 * elapsed[i + 1]
        between = elapsed[i + 1] - elapsed[i]
        assert -2 * 954 - 1000 - drift < theirs[i] - ours[i] < between + 1000 + drift


def test_tracking():
    found = tracking.run(seconds=0.3)
    summary = found["summary"]
    assert summary["samples"] == len(found["error_ns"]) == len(found["time_sec"])
    assert summary["p50_ns"] <= summary["p90_ns"] <= summary["p99_ns"] <= summary["max_ns"]
    assert summary["outside_bound"] == 0
    assert len(found["esterror_ns"]) == summary["samples"]
    assert all(est < most for est, most in zip(found["esterror_ns"], found["maxerror_ns"]))


def test_tracking_counts_what_contradicts_bound_and_estimate():
    errors = {"bracket_ns": 10, "maxerror_ns": 30, "esterror_ns": 5}
    samples = [
        {"error_ns": error, **errors, "status": "SYNCHRONIZED"}
        for error in (0, 15, -15, 16, 40, -40, 41, -41)
    ]
    summary = tracking.summary(samples)
    assert (summary["outside_bound"], summary["outside_estimate"]) == (2, 5)
    assert (summary["median_maxerror_ns"], summary["median_esterror_ns"]) == (30, 5)


def test_percentiles_are_values_that_were_seen():
    assert tracking.percentiles([1, 3, 2, 1000], [0.5, 0.99, 1]) == [2, 1000, 1000]


def test_cpu_pairs():
    assert cpu_pairs([3]) == []
    assert cpu_pairs([0, 1]) == [(0, 1), (1, 0)]
    many = cpu_pairs(list(range(64)))
    assert len(many) == 6
    assert all(0 in pair and pair[0] != pair[1] for pair in many)


@pytest.mark.skipif(len(allowed_cpus()) < 2, reason="needs two CPUs")
def test_ordered_clocks_keep_causality():
    def violations():
        rows = causality.run(seconds=0.01)["rows"]
        return {row["name"]: row["violations"] for row in rows}

    for found in in_time(violations):
        assert {"utc", "utc_unordered", "counter", "clock_gettime_realtime"} <= found.keys()
        assert found["utc"] == found["mono"] == found["counter_ordered"] == 0


@pytest.mark.parametrize("publisher, reader", [(0, 0), (-1, 0), (0, 100_000)])
def test_causality_refuses_wrong_cpus(publisher, reader):
    found = ffi.new("struct timebase_bench_causality *")
    with pytest.raises(TimebaseError):
        check(lib.timebase_bench_causality(0, publisher, reader, 1, found))


def test_stopwatch_laps():
    found = stopwatch.run(laps=500)
    assert len(found["empty_ns"]) == len(found["work_ns"]) == 500
    assert found["work"]["median_ns"] > found["empty"]["median_ns"]
