# SPDX-License-Identifier: MIT
"""What is counted of releases: histograms, and releases joined with what happened in them."""

from collections import deque
from types import SimpleNamespace

import numpy
import pytest

from timebase.api.library import ffi, lib
from timebase.run.cyclictest import WholeMicroseconds, lines
from timebase.run.histogram import EDGES_NS, Histogram
from timebase.run.recorder import RELEASE_TYPE, Recorder, UnitRecord, _layout

PERIOD_NS = 1_000_000


def test_edges_rise_and_are_close():
    ratios = EDGES_NS[1:] / EDGES_NS[:-1]
    assert (ratios > 1).all()
    assert (ratios < 1.006).all()


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.999])
def test_quantile_is_right_to_three_thousandths(share):
    values = numpy.random.default_rng(5).lognormal(3, 3, 20_000)
    values[::2] *= -1
    histogram = Histogram()
    for part in numpy.array_split(values, 7):
        histogram.add(part)
    right = numpy.quantile(abs(values), share, method="inverted_cdf")
    assert abs(histogram.quantile(share) / right - 1) < 0.003


def test_summary_has_signs_and_size():
    histogram = Histogram()
    histogram.add([-5.0, 1.0, 2.0])
    found = histogram.summary()
    assert (found["least"], found["most"], found["max"]) == (-5, 2, 5)
    assert found["mean"] == pytest.approx(-2 / 3)
    assert found["p50"] is None


@pytest.mark.parametrize(
    ("count", "carried"),
    [
        (19, ""),
        (20, "p50"),
        (99, "p50"),
        (100, "p50 p90"),
        (1000, "p50 p90 p99"),
        (9999, "p50 p90 p99"),
    ],
)
def test_few_values_have_no_quantiles_of_their_extremes(count, carried):
    histogram = Histogram()
    histogram.add(range(1, count + 1))
    found = histogram.summary()
    quantiles = ("p50", "p90", "p99", "p999")
    assert [name for name in quantiles if found[name] is not None] == carried.split()


def test_nothing_has_no_summary():
    histogram = Histogram()
    histogram.add([])
    assert histogram.summary() is None
    assert histogram.quantile(0.5) is None
    assert histogram.coarse() == []


def test_extremes_are_counted_in_the_last_buckets():
    histogram = Histogram()
    histogram.add([0.0, -0.0, 1e-9, 1e30, -1e30])
    assert len(histogram) == 5
    assert histogram.above[0] == 3
    assert (histogram.above[-1], histogram.below[-1]) == (1, 1)


def test_coarse_buckets_hold_all_and_join():
    histogram = Histogram()
    histogram.add(numpy.random.default_rng(6).normal(0, 100, 1000))
    buckets = histogram.coarse()
    assert sum(bucket["before"] + bucket["after"] for bucket in buckets) == 1000
    assert buckets[0]["before"] + buckets[0]["after"] > 0
    for one, other in zip(buckets, buckets[1:]):
        assert one["to_ns"] == other["from_ns"]


def releases(*numbers, ran_ns=1000, error_ns=10.0, outcome=0):
    found = numpy.zeros(len(numbers), _layout())
    found["number"] = numbers
    found["count"] = 1
    found["target_ns"] = 10**9 + numpy.array(numbers) * PERIOD_NS
    found["error_ns"] = error_ns
    found["end_ns"] = found["target_ns"] + int(error_ns) + ran_ns
    found["outcome"] = outcome
    return found


def mark(number, inside_ns=500, begins_ns=700):
    target_ns = 10**9 + number * PERIOD_NS
    return (target_ns + inside_ns, target_ns + begins_ns)


@pytest.fixture
def record():
    unit = SimpleNamespace(period_ns=PERIOD_NS)
    return UnitRecord(SimpleNamespace(marks=deque(), unit=unit))


def test_layout_is_the_headers():
    assert _layout().itemsize == ffi.sizeof(RELEASE_TYPE)
    entry = ffi.new(f"{RELEASE_TYPE}[1]", [{"unit": 7, "end_ns": -9, "error_ns": 0.5, "count": 3}])
    view = numpy.frombuffer(ffi.buffer(entry), _layout())[0]
    assert (view["unit"], view["end_ns"], view["error_ns"], view["count"]) == (7, -9, 0.5, 3)


def test_marks_meet_their_releases(record):
    record.add(releases(0, 1))
    record.action.marks.extend([mark(0), mark(1), mark(2)])
    record.join()
    record.add(releases(2))
    record.join()
    assert len(record.begins) == 3
    assert record.begins.size() == 700


def test_release_without_a_mark_is_dropped_once_a_later_one_has_come(record):
    record.add(releases(0, 1, 2))
    record.join()
    record.action.marks.append(mark(2, begins_ns=800))
    record.join()
    assert len(record.begins) == 1
    assert record.begins.size() == 800


def test_mark_whose_release_was_lost_is_dropped(record):
    record.action.marks.extend([mark(0, begins_ns=999), mark(1)])
    record.add(releases(1))
    record.join()
    assert len(record.begins) == 1
    assert record.begins.size() == 700
    assert not record.action.marks


def test_skipped_releases_are_counted_by_their_number_and_have_no_error(record):
    skipped = releases(3, outcome=lib.TIMEBASE_RELEASE_SKIPPED)
    skipped["count"] = 17
    record.add(skipped)
    assert (record.released, record.skipped, len(record.errors)) == (0, 17, 0)


def test_outcomes_and_runs_are_counted(record):
    late_missed = lib.TIMEBASE_RELEASE_LATE | lib.TIMEBASE_RELEASE_MISSED
    record.add(releases(0, 1, outcome=late_missed, ran_ns=500))
    record.add(releases(2, ran_ns=2000))
    assert record.outcomes == {"LATE": 2, "MISSED": 2}
    assert (record.longest_ns, record.total_ns, record.released) == (2000, 3000, 3)
    assert record.first_target_ns == 10**9


class FullLog:
    """A calendar whose log has more than the recorder takes at a time."""

    def __init__(self, count):
        self.left = releases(*range(count))
        self.left["unit"] = numpy.arange(count) % 2
        self.lost = 3

    def take_into(self, room, most):
        part, self.left = self.left[:most], self.left[most:]
        ffi.memmove(room, part.tobytes(), part.nbytes)
        return len(part)


def test_log_is_emptied_however_full():
    unit = SimpleNamespace(period_ns=PERIOD_NS)
    actions = [SimpleNamespace(marks=None, unit=unit) for _ in range(2)]
    recorder = Recorder(FullLog(20_001), actions)
    recorder.drain()
    assert [record.released for record in recorder.units] == [10_001, 10_000]
    assert recorder.lost == 3


def test_errors_are_counted_in_whole_microseconds_as_cyclictest_does():
    first, second = WholeMicroseconds(4), WholeMicroseconds(4)
    first.add([0.0, 999.9, -1000.0, 3999.0])
    first.add([4000.0, 1e9])  # beyond: overflows
    first.add([])
    assert list(lines(["a", "b"], [first, second])) == [
        "# |begin - target| in us, of: a b",
        "# Histogram",
        "000000 000002\t000000",
        "000001 000001\t000000",
        "000002 000000\t000000",
        "000003 000001\t000000",
        "# Total: 000000006 000000000",
        "# Min Latencies: 00000 00000",
        "# Avg Latencies: 166668 00000",
        "# Max Latencies: 1000000 00000",
        "# Histogram Overflows: 00002 00000",
    ]
