# SPDX-License-Identifier: MIT
"""The readings' fast path: the same clocks as through cffi, and without it all is as before."""

import subprocess
import sys

import numpy
import pytest

import timebase
from timebase.api import reader
from timebase.api.library import ffi, lib

READINGS = ("utc_ns", "mono_ns", "tai_ns")

WITHOUT = """
import sys
import timebase
sys.implementation.name = "another"  # as if the extension had not been built
from timebase.api import reader
from timebase.api.library import ffi, lib
assert not reader.is_fast
clock = timebase.default_clock()
for name in ("utc_ns", "mono_ns", "tai_ns"):
    for read in (getattr(clock, name), getattr(clock, name + "_unordered")):
        c = getattr(lib, "timebase_" + name)
        assert c(clock._clock) <= getattr(clock, name)() <= c(clock._clock)
        assert isinstance(read(), int)
assert clock.interval().status in timebase.Status
assert clock.realtime_interval().status in timebase.Status
assert timebase.ticks() > 0 and timebase.ticks_ordered() > 0
assert clock._address() == int(ffi.cast("uintptr_t", lib.timebase_clock_default()))
"""


def address(handle):
    return int(ffi.cast("uintptr_t", handle))


def test_the_extension_is_built_here():
    """scripts/packages names what it needs: Python's headers."""
    assert reader.is_fast


def test_both_ways_read_the_same_clock():
    clock = timebase.default_clock()
    assert clock._address() == address(lib.timebase_clock_default())
    for name in READINGS:
        through_cffi = getattr(lib, f"timebase_{name}")
        before = through_cffi(clock._clock)
        reading = getattr(clock, name)()
        assert before <= reading <= through_cffi(clock._clock)
        unordered = getattr(clock, f"{name}_unordered")()
        assert reading <= unordered <= through_cffi(clock._clock)


def test_intervals_are_those_of_c():
    clock = timebase.default_clock()
    out = ffi.new("struct timebase_interval *")
    for read, through_cffi in (
        (clock.interval, lib.timebase_utc_interval),
        (clock.realtime_interval, lib.timebase_realtime_interval),
    ):
        before_ns = lib.timebase_utc_ns(clock._clock)
        seen = read()
        after_ns = lib.timebase_utc_ns(clock._clock)
        assert seen.earliest_ns <= after_ns and seen.latest_ns >= before_ns
        assert isinstance(seen.status, timebase.Status)
        assert through_cffi(clock._clock, out) >= 0
        assert out.latest_ns >= seen.earliest_ns


def test_ticks_are_those_of_c():
    before = lib.timebase_ticks_ordered()
    assert before <= timebase.ticks_ordered() <= lib.timebase_ticks_ordered()
    assert 0 < timebase.ticks() < 2**64


def test_a_reading_kept_beyond_its_clock_is_of_the_process_own():
    """Never of memory that has been given back."""
    clock = timebase.Clock(lib.timebase_clock_default())
    kept = clock.utc_ns
    clock.close()
    assert clock._address() == address(lib.timebase_clock_default())
    assert kept() <= timebase.default_clock().utc_ns()


def test_a_reader_by_itself_reads_the_process_own_clock():
    assert reader.Reader()._address() == address(lib.timebase_clock_default())
    with pytest.raises(TypeError):
        reader.Reader()._point("no address")
    with pytest.raises(TypeError):
        timebase.default_clock().utc_ns(1)


def test_readings_have_docstrings_and_signatures():
    for name in READINGS:
        assert getattr(timebase.Clock, name).__doc__
    assert timebase.ticks.__doc__


def test_without_the_extension_all_is_as_before():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 4), (0,)])
def test_an_array_is_converted_as_its_ticks_are(shape):
    clock = timebase.default_clock()
    now = timebase.ticks_ordered()
    count = int(numpy.prod(shape))
    stamps = (now - numpy.arange(count, dtype=numpy.uint64) * numpy.uint64(1000)).reshape(shape)
    utc_ns = clock.utc_ns_array(stamps)
    assert utc_ns.shape == shape
    assert utc_ns.dtype == numpy.int64
    for stamp, ns in zip(stamps.flat, utc_ns.flat):
        # The clock may have been renewed in between: within its bound then, not the same.
        at = clock.at(int(stamp))
        assert abs(at.utc_ns - int(ns)) <= 2 * at.maxerror_ns + 1_000_000


def test_arrays_may_be_lists_and_slices_but_hold_whole_numbers():
    clock = timebase.default_clock()
    stamps = numpy.full(10, timebase.ticks(), dtype=numpy.uint64)
    assert clock.utc_ns_array(stamps[::3]).shape == (4,)
    assert clock.utc_ns_array(numpy.array([2**64 - 1, 1], dtype=numpy.uint64)).shape == (2,)
    assert clock.utc_ns_array([[1, 2], [3, 4]]).shape == (2, 2)
    assert clock.utc_ns_array([]).shape == (0,)
    with pytest.raises(TypeError, match="whole numbers"):
        clock.utc_ns_array([1.5])
    with pytest.raises(ValueError, match="unsigned"):
        clock.utc_ns_array([-1])
