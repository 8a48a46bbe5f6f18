# SPDX-License-Identifier: MIT
"""The small readers of doctor's real-time section, and what it measures."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from realtime_trees import grow

from timebase.api.library import ffi, lib
from timebase.bench.placement import allowed_cpus, may_run_on
from timebase.doctor.realtime import cpulist, interrupts, neighbour
from timebase.doctor.realtime.kernel import parse_config
from timebase.doctor.realtime.measured import measure, more
from timebase.doctor.realtime.permissions import ask_for_fifo


@given(st.sets(st.integers(0, 5000)))
def test_a_list_of_cpus_is_read_as_it_was_written(cpus):
    ordered = tuple(sorted(cpus))
    assert cpulist.parse(cpulist.show(ordered) if ordered else "") == ordered


@pytest.mark.parametrize("text", ["", " \n", "(null)"])
def test_an_empty_list_of_cpus_is_empty(text):
    assert cpulist.parse(text) == ()


@pytest.mark.parametrize("text", [None, "x", "1-", "-1", "1,,2", "1-2-3", "0x3"])
def test_what_is_no_list_of_cpus_is_unknown(text):
    assert cpulist.parse(text) is None


def test_a_configuration_is_read_with_and_without_quotes():
    text = '# CONFIG_A is not set\nCONFIG_HZ=250\nCONFIG_CMDLINE="a b=c"\nCONFIG_PREEMPT=y\n'
    assert parse_config(text) == {"HZ": "250", "CMDLINE": "a b=c", "PREEMPT": "y"}


TABLE = """           CPU0       CPU2
 36:      10          3  PCI-MSIX 1-edge  virtio0-req.0
 37:       4          0  PCI-MSIX 2-edge  virtio1
LOC:     900        700   Local timer interrupts
ERR:          0
"""


def test_interrupts_are_counted_by_the_column_of_the_cpu_not_by_its_number(tmp_path):
    tree = grow(tmp_path, {"/proc/interrupts": TABLE})
    assert interrupts.counts(tree, 2) == {"36": 3, "LOC": 700}
    assert interrupts.counts(tree, 0) == {"36": 10, "37": 4, "LOC": 900}


def test_interrupts_of_a_cpu_without_a_column_are_unknown(tmp_path):
    assert interrupts.counts(grow(tmp_path, {"/proc/interrupts": TABLE}), 1) is None
    assert interrupts.counts(grow(tmp_path / "empty", {}), 0) is None


def test_only_what_grew_came_meanwhile():
    assert more({"LOC": 5, "36": 2}, {"LOC": 9, "36": 2, "RES": 1}) == {"LOC": 4, "RES": 1}
    assert more(None, {"LOC": 9}) is None


def test_asking_for_a_real_time_class_leaves_the_thread_as_it_was():
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    answer = ask_for_fifo()
    assert answer is None or answer
    assert (os.sched_getscheduler(0), os.sched_getparam(0)) == before


def test_measuring_leaves_the_thread_where_it_was():
    before = os.sched_getaffinity(0)
    found = measure(allowed_cpus()[-1], 1_000_000_000, lambda: None)
    assert found.error is None
    assert os.sched_getaffinity(0) == before


def test_measuring_on_a_cpu_that_is_not_there_gives_the_reason():
    found = measure(8191, 1_000_000_000, lambda: None)
    assert found.wakeups is None and found.gaps is None
    assert found.error


def test_so_few_sleeps_carry_no_99th_percentile():
    found = measure(allowed_cpus()[-1], 1_000_000_000, lambda: None).wakeups
    assert found.p99_ns is None
    assert found.p50_ns <= found.p90_ns <= found.p95_ns <= found.max_ns


ALONE, SHARED = (1.0, 0.25), (1.0, 0.5)  # looks at the core: cycle and addition


def test_a_busy_neighbour_leaves_fewer_additions_to_a_cycle():
    found = neighbour.of_looks([ALONE] * 90 + [SHARED] * 10)
    assert (found.looks, found.additions_per_cycle) == (100, 4.0)
    assert (found.busy_share, found.clock_steps) == (0.1, 0)


def test_another_clock_is_no_neighbour():
    found = neighbour.of_looks([ALONE] * 50 + [(1.2, 0.3)] * 50)
    assert (found.busy_share, found.clock_steps) == (0, 1)


def test_looks_that_saw_nothing_are_no_answer():
    assert neighbour.of_looks([(0.0, 0.0)] * 9).busy_share is None
    assert neighbour.measure(8191).busy_share is None


def test_looking_leaves_the_thread_where_it_was():
    before = os.sched_getaffinity(0)
    assert neighbour.measure(allowed_cpus()[-1]).looks == neighbour.LOOKS
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize("cpu", [-1, 8191, 10**20])
def test_nobody_runs_on_a_cpu_that_is_not_there(cpu):
    assert not may_run_on(cpu)


def poll(elapsed, threshold):
    found = ffi.new("struct timebase_bench_gaps *")
    return lib.timebase_bench_poll(elapsed, threshold, found), found


@pytest.mark.parametrize("elapsed, threshold", [(0, 1), (1, 0)])
def test_polling_for_nothing_is_refused(elapsed, threshold):
    assert poll(elapsed, threshold)[0] == lib.TIMEBASE_E_INVALID


def test_gaps_are_part_of_the_time_and_none_is_shorter_than_the_threshold():
    result, found = poll(20_000_000, 3000)
    assert result == 0
    assert found.elapsed >= 20_000_000
    assert found.gaps * 3000 <= found.lost <= found.elapsed
    assert found.longest <= found.lost
    assert (found.gaps == 0) == (found.longest == 0)


def test_with_a_threshold_of_one_tick_all_time_is_gaps():
    found = poll(1_000_000, 1)[1]
    assert found.lost == found.elapsed
    assert 0 < found.gaps <= found.polls


def test_no_sleep_ends_before_its_instant():
    late = ffi.new("int64_t[]", [-1] * 20)
    assert lib.timebase_bench_wakeups(20, 100_000, late) == 0
    assert min(late) >= 0


@pytest.mark.parametrize("sleeps, period", [(0, 1000), (1, 999), (1, 1_000_000_001)])
def test_sleeps_out_of_range_are_refused(sleeps, period):
    late = ffi.new("int64_t[]", 1)
    assert lib.timebase_bench_wakeups(sleeps, period, late) == lib.TIMEBASE_E_INVALID
