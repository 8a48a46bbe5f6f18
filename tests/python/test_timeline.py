# SPDX-License-Identifier: MIT
"""timebase.Timeline: what a tick meant, or why nobody knows."""

import uuid

import numpy
import pytest
from timelines import cases, write_case, write_series

from timebase import Timeline, TimelineError
from timebase.api.errors import TimebaseError
from timebase.api.timeline import Reason

INSTANT = ("mono_ns", "utc_ns", "maxerror_ns", "utc_maxerror_ns", "flags")


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.__name__)
def test_every_vector(tmp_path, case):
    reads = write_case(tmp_path / "timeline", case)
    with Timeline(tmp_path / "timeline") as timeline:
        for read in reads:
            boot = bytes.fromhex(read["boot"]) if read["boot"] else None
            if "error" in read:
                with pytest.raises(TimelineError) as refusal:
                    timeline.at(int(read["ticks"]), boot)
                assert str(read["ticks"]) in str(refusal.value)
                continue
            instant = timeline.at(int(read["ticks"]), boot)
            assert {name: str(getattr(instant, name)) for name in INSTANT} == {
                name: str(read[name]) for name in INSTANT
            }


def test_arrays_say_the_same_as_single_ticks(tmp_path):
    run = write_series(tmp_path, 50)
    asked = numpy.linspace(run[0].ticks - 1000, run[-1].ticks + 10**9, 5000).astype(numpy.uint64)
    with Timeline(tmp_path) as timeline:
        found = timeline.at_many(asked)
        for i in range(0, asked.size, 7):
            if found.errors[i]:
                with pytest.raises(TimelineError) as refusal:
                    timeline.at(int(asked[i]))
                assert refusal.value.code == found.errors[i]
                assert found.utc_ns[i] == 0
            else:
                instant = timeline.at(int(asked[i]))
                assert instant.utc_ns == found.utc_ns[i]
                assert instant.utc_maxerror_ns == found.utc_maxerror_ns[i]
                assert instant.flags == found.flags[i]
        assert 0 < (found.errors == 0).sum() < asked.size
        backwards = timeline.at_many(asked[::-1])
        assert (backwards.utc_ns[::-1] == found.utc_ns).all()
        assert timeline.at_many([]).ticks.size == 0
        assert timeline.at_many(numpy.int64([run[0].ticks])).errors[0] == 0


@pytest.mark.parametrize("ticks", [[1.5], numpy.array([1.0]), ["7"]])
def test_arrays_of_anything_but_integers_are_refused(tmp_path, ticks):
    with Timeline(tmp_path) as timeline:
        with pytest.raises(TypeError, match="integers"):
            timeline.at_many(ticks)


def test_negative_ticks_are_refused(tmp_path):
    with Timeline(tmp_path) as timeline:
        with pytest.raises(ValueError, match="0 to"):
            timeline.at_many([-1])
        with pytest.raises(ValueError, match="ticks"):
            timeline.at(-1)
        with pytest.raises(TypeError, match="integer"):
            timeline.at(1.0)


def test_contents(tmp_path):
    write_case(tmp_path, cases.gaps)
    with Timeline(tmp_path) as timeline:
        (boot,) = timeline.boots
        assert boot.id == uuid.UUID(bytes=cases.BOOTS[0])
        assert boot.gap_count == 2
        assert [gap.reason for gap in timeline.gaps] == [Reason.DISRUPTED, Reason.LOST]
        assert all(gap.boot == boot.id for gap in timeline.gaps)
        assert timeline.damages == []
        with pytest.raises(TimelineError, match="the counter was disrupted"):
            timeline.at(timeline.gaps[0].from_ticks)
        with pytest.raises(TimelineError, match="disk"):
            timeline.at(timeline.gaps[1].from_ticks, str(boot.id))
        assert timeline.at(boot.first_ticks).utc_ns == boot.first_utc_ns


def test_a_torn_end_is_named(tmp_path):
    write_case(tmp_path, cases.one_run)
    with Timeline(tmp_path) as timeline:
        (damage,) = timeline.damages
        assert damage.file == str(tmp_path / "00000002.tbl")
        assert damage.size == 57


def test_the_inverse(tmp_path):
    run = write_series(tmp_path, 20)
    with Timeline(tmp_path) as timeline:
        target = timeline.at(run[7].ticks + 12345).utc_ns
        ticks = timeline.ticks_at_utc(target)
        assert timeline.at(ticks).utc_ns >= target > timeline.at(ticks - 1).utc_ns
        with pytest.raises(TimelineError):
            timeline.ticks_at_utc(0)


def test_the_newest_line_is_drawn_on_only_if_asked_for(tmp_path):
    run = write_series(tmp_path, 5)
    later = run[-1].ticks + 3 * 10**9
    with Timeline(tmp_path) as timeline:
        with pytest.raises(TimelineError, match="after the last"):
            timeline.at(later)
    with Timeline(tmp_path, draw_on=True) as timeline:
        told = run[-1].at(later)
        assert str(timeline.at(later).utc_ns) == told["utc_ns"]
        assert str(timeline.at(later).maxerror_ns) == told["maxerror_ns"]


def test_what_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(TimebaseError, match=r"none: there is no such"):
        Timeline(tmp_path / "none")
    (tmp_path / "00000001.tbl").write_bytes(b"x" * 500)
    with pytest.raises(TimebaseError, match="not a timeline"):
        Timeline(tmp_path)


def test_what_can_no_longer_be_read_is_not_empty(tmp_path):
    with Timeline(tmp_path) as timeline:
        assert timeline.boots == []
        (tmp_path / "00000001.tbl").write_bytes(b"x" * 500)
        for noun in ("boots", "gaps", "damages"):
            with pytest.raises(TimebaseError, match=f"{tmp_path}: not a timeline"):
                getattr(timeline, noun)
        with pytest.raises(TimelineError, match="not a timeline"):
            timeline.at(1)


def test_closed_is_closed(tmp_path):
    timeline = Timeline(tmp_path)
    timeline.close()
    timeline.close()
    with pytest.raises(ValueError, match="closed"):
        timeline.at(1)


@pytest.mark.parametrize("boot", [b"short", "not a boot"])
def test_a_boot_is_16_bytes(tmp_path, boot):
    with Timeline(tmp_path) as timeline:
        with pytest.raises(ValueError):
            timeline.at(1, boot)
