# SPDX-License-Identifier: MIT
"""What becomes of trials: turns, rows with percentiles and conditions, figures."""

from types import SimpleNamespace

import numpy
import pytest

from timebase.accuracy import core, figure, rows, session, trials
from timebase.accuracy.hit import FINEST_BIN_NS, MOST_BINS, bins
from timebase.accuracy.summary import SHARES, Trials, joined, quantile, row
from timebase.bench.percentile import least_count
from timebase.bench.placement import quiet_cpu

PERCENTILES = ("p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns")
RAW = tuple(f"raw_{key}" for key in PERCENTILES)


def made(error_ns, disturbance=None, late=None, missed=0, bound_ns=0.0):
    count = len(error_ns)
    return Trials(
        numpy.array(error_ns, float),
        numpy.full(count, bound_ns),
        numpy.array(late if late is not None else [False] * count, bool),
        numpy.array(disturbance if disturbance is not None else [0] * count, numpy.uint32),
        numpy.full(count, -1, numpy.int32),
        numpy.zeros(count, int),
        looks(QUIET, QUIET),
        missed,
        cpu_ns=30,
        wall_ns=60,
    )


QUIET, SHARED, UNKNOWN = (1.0, 0.25, 0.26), (1.0, 0.5, 0.6), (0.0, 0.0, 0.0)
VISITED = (1.0, 0.25, 0.5)  # a neighbour came and went


def looks(*pairs):
    """Blocks: (cycle, addition, slowest addition) before and after each."""
    flat = [(*before, *after) for before, after in zip(pairs[::2], pairs[1::2])]
    return numpy.array(flat, core.LOOK)


# ---- rows


def test_percentiles_are_nearest_ranks_of_all_trials():
    rng = numpy.random.default_rng(1)
    errors = rng.permutation(numpy.arange(10_000.0) - 5000)  # median, nearest rank: -1
    found = row("some", made(errors))
    ranks = [4999, 8999, 9499, 9899, 9989]
    sizes = sorted(abs(error + 1) for error in errors)
    assert found["bias_ns"] == -1
    assert [found[key] for key in PERCENTILES] == [sizes[rank] for rank in ranks]
    sizes = sorted(abs(error) for error in errors)
    assert [found[key] for key in RAW] == [sizes[rank] for rank in ranks]


def test_a_constant_lateness_is_in_the_raw_error_and_not_in_the_spread():
    errors = numpy.random.default_rng(4).normal(0, 5, 99_999)
    here, there = row("some", made(errors)), row("some", made(errors + 1000))
    assert there["bias_ns"] == pytest.approx(1000 + here["bias_ns"], abs=1)
    for key in PERCENTILES:
        assert there[key] == pytest.approx(here[key], abs=0.01)
        assert there[f"raw_{key}"] > 980 > here[f"raw_{key}"]


@pytest.mark.parametrize(
    "share, least", [(0.5, 20), (0.9, 100), (0.95, 200), (0.99, 1000), (0.999, 10_000)]
)
def test_a_percentile_needs_ten_values_beyond_it(share, least):
    key = next(key for key, value in SHARES.items() if value == share)
    assert least_count(share) == least
    for count, is_there in ((least - 1, False), (least, True)):
        found = row("some", made(numpy.arange(float(count))))
        assert (found[key] is not None, found[f"raw_{key}"] is not None) == (is_there, is_there)


def test_outliers_stay_in():
    errors = [0.0] * 9980 + [1e6] * 20
    found = row("some", made(errors, disturbance=[0] * 9980 + [1] * 20))
    assert found["trials"] == 10_000
    assert found["p999_ns"] == found["raw_p999_ns"] == 1e6
    assert found["disturbed_share"] == 0.002


def test_undisturbed_is_the_subset_without_evidence():
    trials = made([1.0, 1.0, 1.0, 5000.0], disturbance=[0, 0, 0, 8])
    assert list(trials.undisturbed().error_ns) == [1.0, 1.0, 1.0]
    # an error alone is no evidence
    assert len(made([0.0, 1e9]).undisturbed()) == 2


def test_late_counts_what_never_began():
    found = row("some", made([1.0, 2.0, 3.0], late=[True, False, False], missed=1))
    assert found["trials"] == 4
    assert found["late_share"] == 0.5
    assert found["missed_share"] == 0.25


def test_early_counts_only_what_the_measurement_can_tell():
    found = row("some", made([-3.0, -1.0, 0.0, 9.0], bound_ns=2.0))
    assert found["early_share"] == 0.25


def test_a_method_without_evidence_says_so():
    assert row("some", made([1.0]), evidence=False)["disturbed_share"] is None


def test_no_trials_have_no_percentiles():
    found = row("some", made([], missed=7))
    assert [found[key] for key in (*PERCENTILES, *RAW)] == [None] * 10
    assert found["late_share"] == 1
    assert row("none", Trials())["late_share"] == 0


def test_cpu_share():
    assert row("some", made([1.0]))["cpu_share"] == 0.5


def test_joined_trials_keep_all_and_know_their_blocks():
    second = made([3.0], late=[True], missed=2)
    second.looks = looks((2.0, 0.5, 0.5), (2.0, 0.5, 0.5))
    both = joined([made([1.0, 2.0], disturbance=[0, 1], missed=1), second])
    assert list(both.error_ns) == [1, 2, 3]
    assert list(both.disturbance) == [0, 1, 0]
    assert list(both.late) == [False, False, True]
    assert list(both.block) == [0, 0, 1]
    assert [look["cycle_before"] for look in both.where(both.late).blocks()] == [2.0]
    assert (both.missed, both.cpu_ns, both.wall_ns) == (3, 60, 120)
    assert len(joined([])) == 0


def test_what_the_loop_ended_is_told_of_waits_alone():
    trials = made([1.0] * 4)
    assert row("some", trials)["loop_share"] is None
    trials.mechanism[:] = [1, 3, 3, 3]
    assert row("some", trials)["loop_share"] == 0.25
    assert row("some", trials, evidence=False)["loop_share"] is None


def test_what_readings_add_to_a_delay_is_taken_off_as_it_was_around_the_trial():
    added = numpy.array([500.0] * 40 + [600.0] * 40)
    added[17] = 90_000.0  # an interrupt
    errors = trials.without_added(added + 7, added)
    errors[17] = 7
    assert list(errors[:33]) == list(errors[-33:]) == [7] * 33


# ---- the core under the trials


def fake_core(quiet):
    found = core.Core.__new__(core.Core)
    found.quiet = quiet
    return found




@pytest.mark.parametrize(
    "before, after, seen",
    [
        (QUIET, QUIET, core.QUIET),
        (SHARED, SHARED, core.BUSY),
        (QUIET, SHARED, core.MIXED),
        (SHARED, QUIET, core.MIXED),
        (VISITED, QUIET, core.MIXED),
        (SHARED, VISITED, core.MIXED),
        (UNKNOWN, QUIET, core.QUIET),
        (UNKNOWN, VISITED, core.MIXED),
        (UNKNOWN, SHARED, core.BUSY),
    ],
)
def test_a_core_is_shared_if_it_adds_less_in_a_cycle(before, after, seen):
    assert list(fake_core(4.0).sibling(looks(before, after))) == [seen]


def test_a_slower_clock_is_a_step_and_no_neighbour():
    found = looks(QUIET, (1.3, 0.325, 0.325))
    assert list(fake_core(4.0).sibling(found)) == [core.QUIET]
    assert core.clock_steps(found) == 1
    assert core.clock_steps(looks(QUIET, SHARED)) == 0
    assert core.clock_steps(looks(UNKNOWN, QUIET)) is None


def test_rows_by_neighbour_are_those_of_its_blocks():
    both = made([1.0, 2.0, 3.0, 4.0])
    both.looks = looks(QUIET, QUIET, SHARED, SHARED, QUIET, SHARED)
    both.block = numpy.array([0, 1, 1, 2])
    fake = SimpleNamespace(core=fake_core(4.0), rights={"cpu": 1})
    found = {row["name"]: row for row in rows.rows_of(fake, "near", {"x": both}, by_sibling=True)}
    assert {name: row["trials"] for name, row in found.items()} == {
        "x": 4, "x_undisturbed": 4, "x_quiet": 1, "x_busy": 2,
    }  # fmt: skip
    assert found["x_busy"]["share"] == 0.5
    assert found["x_busy"]["bias_ns"] == 2.0
    assert found["x"]["conditions"]["busy_share"] == pytest.approx(1 / 3, abs=1e-4)
    assert found["x"]["conditions"]["blocks"] == 3
    assert found["x_quiet"]["conditions"]["quiet_share"] == 1
    assert {row["subset"] for row in found.values()} == {"all", "undisturbed", "quiet", "busy"}


def test_a_look_at_this_core_makes_sense():
    seen = core.look_once()
    assert (core.additions(seen) > 0).all() and numpy.isfinite(core.additions(seen)).all()


# ---- figures as data


def test_exceedance_falls_and_reaches_the_worst():
    errors = numpy.random.default_rng(2).exponential(10, 5000)
    for centre, about_median in ((0, False), (quantile(errors, 0.5), True)):
        found = figure.exceedance("some", "ours", made(errors), about_median=about_median)
        assert found["x"] == sorted(found["x"])
        assert found["y"] == sorted(found["y"], reverse=True)
        assert found["x"][-1] == pytest.approx(max(abs(errors - centre)), rel=1e-4)


def test_histogram_counts_shares_of_all():
    found = figure.histogram(
        "some", "ours", numpy.array([0.5, 0.6, 1.5, 99.0]), numpy.array([0.0, 1, 2])
    )
    assert found["x"] == [0, 1]
    assert found["y"] == [0.5, 0.25]


@pytest.mark.parametrize("spread", [0.1, 30.0, 1e4, 1e8])
def test_a_histogram_has_no_more_bins_than_can_be_drawn(spread):
    """However far a disturbed machine's errors reach."""
    errors = numpy.random.default_rng(6).normal(50, spread, 4000)
    edges, width = bins([errors, errors - 30])
    assert 2 <= len(edges) <= MOST_BINS + 2
    assert width >= FINEST_BIN_NS and width % FINEST_BIN_NS == 0
    assert edges[0] <= quantile(errors - 30, 0.002) and edges[-1] >= quantile(errors, 0.97)


@pytest.mark.parametrize(
    "ns, said",
    [(0, "0 ns"), (0.414, "0.41 ns"), (-1.26, "-1.3 ns"), (16.6, "17 ns"), (999, "1.0 µs"),
     (16_600, "17 µs"), (2_500_000, "2.5 ms")],
)  # fmt: skip
def test_words(ns, said):
    assert figure.words(ns) == said


# ---- turns


def turns_with(rounds, clock, expected_sec=1.0):
    called = []
    methods = {n: (lambda n=n: called.append(n) or made([1.0])) for n in ("one", "two", "three")}
    fake = SimpleNamespace(random=numpy.random.default_rng(3))
    clock(called)
    found = trials.take_turns(fake, methods, rounds, expected_sec, lambda share: None)
    return called, found


def test_methods_take_turns(monkeypatch):
    called, found = turns_with(50, lambda _: None)
    rounds = [called[i : i + 3] for i in range(0, 150, 3)]
    assert all(sorted(each) == ["one", "three", "two"] for each in rounds)
    assert len({tuple(each) for each in rounds}) > 1  # not always in the same order
    assert {len(of_one) for of_one in found.values()} == {50}


def test_a_machine_that_is_far_too_slow_gets_fewer_rounds(monkeypatch):
    def a_second_each(called):
        monkeypatch.setattr(trials.time, "perf_counter", lambda: float(len(called)))

    _, found = turns_with(50, a_second_each, expected_sec=4.0)
    assert {len(of_one) for of_one in found.values()} == {5}  # 13 s of 12 allowed


def test_seed_decides_the_targets():
    """Of one pace: that of another session is measured anew, and may differ in its last digits."""
    targets = []
    for _ in range(2):
        with session.session(quiet_cpu(), 99) as (measuring, _):
            measuring.ns_per_tick = 0.4
            targets.append(measuring.random_ticks(1500, 4000, 100).tolist())
    assert targets[0] == targets[1]
    assert 3750 <= min(targets[0]) < max(targets[0]) <= 10_000
