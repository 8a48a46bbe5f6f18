# SPDX-License-Identifier: MIT
"""The arithmetic and the table of bench/peers/waits, on invented trials."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

PEERS = Path(__file__).resolve().parents[2] / "bench" / "peers"
sys.path.insert(0, str(PEERS))
from launch import Broken
from waits import catalogue, cyclictest, measure, summary, table

sys.path.remove(str(PEERS))

STEP = 26
ALONE, SHARED = (1.0, 0.25), (1.0, 0.5)  # looks at the core: cycle and addition
QUIET, BUSY = summary.Chunk(ALONE, ALONE), summary.Chunk(SHARED, SHARED)
DELAY = summary.Cell(
    "spin_sleep", "delay", 200, [150.0] * 40, [50.0] * 40, 90, 100, 0, (QUIET,) * 40
)
READING = summary.Cell("nothing", "reading", 0, [50.0] * 20, [], 0, 0, 0)
PAIR = summary.Cell("nothing", "pair", 0, [30.0] * 20, [], 0, 0, 0)
LATER = summary.Cell("nothing", "later", 0, [76.0] * 20, [], 0, 0, 0)


def test_a_quantile_is_a_value_that_so_many_do_not_exceed():
    assert [summary.quantile([1, 2, 3, 4], share) for share in (0, 0.25, 0.26, 0.5, 1)] == [
        1,
        1,
        2,
        2,
        4,
    ]


def test_an_interrupt_in_the_stopwatch_is_not_taken_off_its_neighbours():
    costs = [50.0] * 40
    costs[17] = 90000.0
    assert list(summary.local_medians(costs)) == [50.0] * 40


def test_what_the_stopwatch_costs_is_followed_when_the_core_clock_moves():
    medians = list(summary.local_medians([50.0] * 40 + [60.0] * 40))
    assert medians[:30] == [50.0] * 30 and medians[-30:] == [60.0] * 30


@pytest.mark.parametrize("count", [1, 2, 14, 15, 16])
def test_few_costs_have_medians_too(count):
    assert list(summary.local_medians(range(count))) == pytest.approx(
        [(count - 1) // 2] * count, abs=1
    )


@given(st.lists(st.floats(-1000, 1000), min_size=1, max_size=40), st.floats(0, 1e6))
def test_an_error_does_not_depend_on_what_the_stopwatch_costs(trials, cost):
    def errors(added):
        cell = replace(DELAY, trials=[t + added for t in trials], costs=[added] * len(trials))
        return summary.errors_ns(cell, 12345.0, 2.0)

    assert errors(cost) == pytest.approx(errors(0.0), abs=1e-6)


def test_a_reading_of_a_stepping_counter_stands_for_the_middle_of_its_step():
    assert summary.instant_cost([READING, PAIR], STEP) == 50 - 12.5 - 30
    assert summary.instant_cost([READING, PAIR], 1) == 50 - 30


def test_the_cold_stopwatch_is_compared_with_the_warm_one():
    assert set(summary.cold_errors_ns([READING, PAIR, LATER], 2.6)) == {10.0}


def test_early_counts_as_much_as_late():
    found = summary.figures([-8.0, -2.0, 1.0, 3.0] * 10)
    assert (found["earliest_ns"], found["bias_ns"], found["latest_ns"]) == (-8, -2, 3)
    assert (found["raw_p50_ns"], found["p50_ns"]) == (2, 3)


def test_errors_are_given_as_they_are_and_about_their_median():
    found = summary.figures([30.0 + n % 5 for n in range(1000)])
    assert (found["raw_p50_ns"], found["raw_p99_ns"]) == (32, 34)
    assert (found["bias_ns"], found["p50_ns"], found["p99_ns"]) == (32, 1, 2)


@pytest.mark.parametrize(
    "count, known", [(19, 0), (20, 1), (100, 2), (200, 3), (1000, 4), (10_000, 5)]
)
def test_no_quantile_of_too_few_trials(count, known):
    found = summary.figures([1.0] * count)
    for prefix in ("raw_", ""):
        keys = [f"{prefix}{name}_ns" for name in summary.SHARES]
        assert [found[key] is not None for key in keys] == [True] * known + [False] * (5 - known)


def row(cell, **more):
    return summary.row(cell, 0.0, 2.0, 4.0, **more)


def test_a_row_has_the_share_of_the_cpu():
    assert row(DELAY)["cpu_share"] == 0.9
    assert row(DELAY)["raw_p50_ns"] == 50


def test_a_row_has_the_conditions_of_its_trials():
    cell = replace(DELAY, chunks=(QUIET,) * 30 + (BUSY,) * 10)
    found = row(cell)
    assert (found["busy_share"], found["chunks"], found["trials"]) == (0.25, 2, 40)
    quiet = row(cell, subset=summary.QUIET)
    assert (quiet["busy_share"], quiet["chunks"], quiet["trials"]) == (0, 1, 30)
    assert row(replace(DELAY, chunks=(BUSY,) * 40), subset=summary.QUIET) is None


def test_a_neighbour_that_comes_or_goes_makes_a_chunk_neither_quiet_nor_busy():
    mixed = summary.Chunk(ALONE, SHARED)
    assert (QUIET.is_busy(4.0), BUSY.is_busy(4.0), mixed.is_busy(4.0)) == (False, True, None)


def test_a_clock_that_steps_is_no_neighbour():
    slower = summary.Chunk(ALONE, (1.3, 0.325))
    assert slower.has_stepped() and not QUIET.has_stepped() and not BUSY.has_stepped()
    assert slower.is_busy(4.0) is False
    assert summary.conditions(replace(DELAY, chunks=(slower,) * 40), 4.0)["clock_steps"] == 1


def test_a_quiet_core_is_what_the_fastest_looks_saw():
    cell = replace(DELAY, chunks=tuple(summary.Chunk(ALONE, SHARED) for _ in range(40)))
    assert summary.quiet_level([cell]) == 4.0


LINES = ["a delay 200 2 5 10 0 2 50", "b period 1000 3 5 10 1 3 2"]
NUMBERS = [1, 2, 10, 20, *(1.0, 0.25, 1.0, 0.5), 5, 6, 7, *(2.0, 0.5) * 4]


def test_the_numbers_of_the_driver_find_their_cells():
    a, b = measure.cells_of(LINES, measure.array.array("d", NUMBERS))
    assert (a.trials, a.costs, b.trials, b.costs) == ([1, 2], [10, 20], [5, 6, 7], [])
    assert b.skipped == 1
    assert a.chunks == (summary.Chunk((1.0, 0.25), (1.0, 0.5)),) * 2
    assert len(b.chunks) == 3 and b.chunks[0] is b.chunks[1] is not b.chunks[2]


@pytest.mark.parametrize("numbers", [6, 18, 20])
def test_numbers_of_no_cell_are_an_error(numbers):
    with pytest.raises(Broken, match="spoke of"):
        measure.cells_of(LINES, measure.array.array("d", range(numbers)))


def test_samples_of_cyclictest_are_read_and_the_first_is_left_out():
    text = "Max CPUs = 2\nThread 0 Interval: 1000\n       0:       0:   29833\n       0:       1:   -12\n"
    assert cyclictest.parse(text) == [-12]


def invented(**changes):
    rows = [
        {**row(replace(DELAY, name=name)), "raw_p99_ns": p99}
        for name, p99 in (("spin_sleep", 70.0), ("timebase_exact", 2.0), ("nothing", 1.0))
    ]
    cold = summary.figures([1.0])
    return {
        "machine": {
            "cpu_model": "invented",
            "cpus": 2,
            "kernel": "6.18",
            "load_average": 0.0,
            "date": "2026-11-21",
            "commit": "0123456789ab",
            "toolchain": {"g++": "g++ 12", "rustc": ""},
            "peers": {"spin_sleep": "1.3.3"},
        },
        "counter_mhz": 2600.0,
        "core": {"additions_per_cycle": 3.9, "busy_below": 0.7},
        "stopwatch": {
            "fine": True,
            "step_ns": 10.0,
            "bound_ns": 0.4,
            "delay_cost_ns": 500.0,
            "after_1_ms": cold,
        },
        "rounds": 4,
        "cpu": 1,
        "granted": ["SCHED_FIFO"],
        "refused": [],
        "left_out": {},
        "rows": rows,
        **changes,
    }


def test_rows_come_by_their_tail_and_the_stopwatch_is_none_of_them():
    page = table.markdown(invented())
    assert page.index("timebase_delay_ns") < page.index("spin_sleep `sleep`")
    assert len(re.findall(r"^\| 200 ns", page, re.MULTILINE)) == 2


def test_what_so_few_trials_cannot_carry_is_a_dash():
    line = next(
        line for line in table.markdown(invented()).splitlines() if "spin_sleep `sleep`" in line
    )
    assert "50.0 / – / – / 70.0 / –" in line  # of 40 trials; the p99 is invented


def test_our_tail_is_compared_with_that_of_others_that_poll():
    rows = [
        {**row(replace(DELAY, name=name, asked_ns=1000)), "subset": "quiet", "raw_p99_ns": p99}
        for name, p99 in (
            *(("timebase_exact", 2.0), ("dpdk_block", 84.0)),
            *(("clock_nanosleep", 20_000.0), ("nothing", 1.0)),
        )
    ]
    said = "".join(table.ratio_lines(invented(rows=rows)))
    assert "Delay of 1 µs" in said and "`rte_delay_us_block` 84.0 (0.024)" in said
    assert "nanosleep" not in said


def test_what_is_missing_or_refused_is_named():
    page = table.markdown(
        invented(left_out={"DPDK": "libdpdk not found"}, refused=["SCHED_FIFO: not permitted"])
    )
    assert "Left out: DPDK, libdpdk not found." in page
    assert "Refused: SCHED_FIFO: not permitted." in page


@pytest.mark.parametrize(
    "ns, text", [(200, "200 ns"), (1000, "1 µs"), (1_000_000, "1 ms"), (1500, "1500 ns")]
)
def test_targets_are_named_as_people_do(ns, text):
    assert table.duration(ns) == text


@pytest.mark.parametrize(
    "ns, text", [(0.44, "0.4"), (-12.34, "-12.3"), (1234.5, "1,234"), (23456, "23.5 µs")]
)
def test_figures_have_some_three_digits(ns, text):
    assert table.figure(ns) == text


def test_the_catalogue_has_all_that_the_driver_has():
    sources = "".join(path.read_text() for path in (PEERS / "waits" / "driver").glob("*.c*"))
    names = set(re.findall(r'^    \{"(\w+)", \w+, \w+, \w+\},', sources, re.MULTILINE))
    assert names == set(catalogue.BY_NAME) - {"cyclictest"}
