# SPDX-License-Identifier: MIT
"""Intervals, and the waits on them, as Python has them."""

import itertools

import pytest

import timebase
from timebase import Interval, Status, TimebaseError
from timebase.api.library import lib


def of(earliest_ns, latest_ns):
    return Interval(earliest_ns, latest_ns, Status.SYNCHRONIZED)


ALL = [of(a, b) for a, b in itertools.combinations_with_replacement(range(5), 2)]


@pytest.mark.parametrize("a, b", list(itertools.product(ALL, ALL)))
def test_order_and_overlap_are_what_counting_says(a, b):
    common = [ns for ns in range(-1, 6) if a.contains(ns) and b.contains(ns)]
    assert a.overlaps(b) == bool(common)
    assert a.before(b) + b.before(a) + a.overlaps(b) == 1
    both = a.intersect(b)
    assert (both is None) if not common else (both.earliest_ns, both.latest_ns) == (
        common[0], common[-1])  # fmt: skip


@pytest.mark.parametrize("other", ALL)
def test_an_empty_interval_is_before_after_and_within_nothing(other):
    empty = of(3, 1)
    assert not empty.before(other) and not other.before(empty)
    assert not empty.overlaps(other) and not other.overlaps(empty)
    assert empty.intersect(other) is None
    assert empty.width_ns == 0


def test_the_own_clock_s_estimate_is_no_promise():
    clock = timebase.default_clock()
    for wait in (lambda: clock.wait_bound(1 << 62), lambda: clock.wait_after(0)):
        with pytest.raises(timebase.EstimateError, match="estimate") as caught:
            wait()
        assert caught.value.code == lib.TIMEBASE_E_ESTIMATE


def test_wait_by_a_clock_without_a_time_is_an_error_at_once():
    """As C says so before the deadline, an hour ahead here; but 100 ms of it at a time."""
    with pytest.raises(TimebaseError, match="the clock has no time") as caught:
        timebase.default_clock()._wait(lambda _: lib.TIMEBASE_E_STALE, 3600 * 10**9)
    assert caught.value.code == lib.TIMEBASE_E_STALE


def test_a_wait_that_nobody_promised_anything_says_so():
    with pytest.raises(TimebaseError, match="nobody promised a bound.*: the clock is ") as caught:
        timebase.default_clock()._wait(lambda _: lib.TIMEBASE_E_STALE, 0)
    assert caught.value.code == lib.TIMEBASE_E_STALE
