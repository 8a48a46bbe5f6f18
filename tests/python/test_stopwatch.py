# SPDX-License-Identifier: MIT
"""The stopwatch as a context manager."""

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


def test_more_work_takes_longer(watch):
    with watch as little:
        sum(range(1_000))
    with watch as much:
        sum(range(1_000_000))
    assert much.ns > little.ns


def test_overhead_is_taken_off(watch):
    def empty():
        with watch as elapsed:
            pass
        return elapsed.ns

    laps = sorted(empty() for _ in range(301))
    assert watch.overhead_ns > 0
    assert abs(laps[len(laps) // 2]) < watch.overhead_ns


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
