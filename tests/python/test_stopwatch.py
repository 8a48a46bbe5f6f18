# SPDX-License-Identifier: MIT
"""The stopwatch as a context manager."""

import time

import pytest

from timebase import Stopwatch


@pytest.fixture(scope="module")
def watch():
    return Stopwatch()


def test_elapsed_is_filled_at_the_end_of_the_block(watch):
    with watch as elapsed:
        assert elapsed.ns is None
        assert "running" in repr(elapsed)
    assert elapsed.ns is not None
    assert elapsed.uncertainty_ns >= 0
    assert isinstance(elapsed.ticks, int)


def test_elapsed_lies_between_readings_within_and_around(watch):
    """Whatever holds the thread up. 1 per mille: the kernel slews its clock, and not the counter."""
    around = time.perf_counter_ns()
    with watch as elapsed:
        within = time.perf_counter_ns()
        sum(range(1_000_000))
        within = time.perf_counter_ns() - within
    around = time.perf_counter_ns() - around
    assert elapsed.ns * 0.999 <= around
    assert within * 0.999 <= elapsed.ns + watch.overhead_ns + elapsed.uncertainty_ns


def test_overhead_is_taken_off():
    watch, much = Stopwatch(), 1 << 50
    assert watch.overhead_ns > 0
    watch._watch.overhead_ticks += much
    with watch as elapsed:
        pass
    assert -1.001 * much < elapsed.ticks < -0.999 * much


def test_inner_blocks_lie_within_outer_ones(watch):
    with watch as outer:
        with watch as inner:
            sum(range(100_000))
    assert inner.ns > 0
    assert outer.ns + outer.uncertainty_ns + inner.uncertainty_ns >= inner.ns


def test_an_exception_ends_the_block_and_passes(watch):
    with pytest.raises(KeyError):
        with watch as elapsed:
            raise KeyError("from within")
    assert elapsed.ns is not None
    with watch as again:
        pass
    assert again.ns is not None
