# SPDX-License-Identifier: MIT
"""A daemon's files, made here: a page that is right now, and the metrics beside it."""

import functools
import os
import struct
import time
from pathlib import Path

from timebase import Page, default_clock, probe
from timebase.api.library import lib

COUNTER_ID_OFFSET, COUNTS_OFFSET = 28, 32
NEW = -3600.0  # an age in seconds: new however long a test is held up
GROWTH_PPM = 500  # of the bound: the probe's frequency is not the discipline's


def line(mono_ns, ticks, frequency_hz, offset_ns, **more):
    period = (10**9 << 64) // frequency_hz
    return {
        "start_ticks": ticks % 2**64,
        "mono_ns": mono_ns,
        "utc_ns": (mono_ns + offset_ns) % 2**64,
        "period_ns": period >> 64,
        "period_frac": period % 2**64,
        "flags": lib.TIMEBASE_STATUS_SYNCHRONIZED,
        "maxerror_ns": 50_000,
        "drift_rate": GROWTH_PPM * (period >> 32) // 1_000_000,
        "utc_maxerror_ns": 1_000_000,
        **more,
    }


@functools.cache
def frequency_hz():
    return probe().frequency_hz


def page_bytes(
    age_sec=0.0, seq=1000, late=0, steps=0, marker=0, counter_id=None, validity=None, **more
):
    """Of a daemon that published so long ago; `more` are fields of all three lines. Without a
    `validity` it never expires."""
    instant = default_clock().now()
    frequency = frequency_hz()
    mono_ns = instant.mono_ns - int(age_sec * 1e9)
    ticks = instant.ticks - int(age_sec * frequency)
    one = line(mono_ns, ticks, frequency, instant.utc_ns - instant.mono_ns, **more)
    lasting = {} if validity is None else {"refresh_ticks": 0, "validity": validity}
    data = bytearray(Page.from_lines(one, one, one, seq=seq, **lasting).to_bytes())
    struct.pack_into(
        "=I",
        data,
        COUNTER_ID_OFFSET,
        lib.timebase_counter_id() if counter_id is None else counter_id,
    )
    struct.pack_into("=QQQ", data, COUNTS_OFFSET, marker, steps, late)
    return bytes(data)


def write_page(folder: Path, name="page", **about) -> Path:
    path = folder / name
    fresh = folder / f".{name}.new"
    fresh.write_bytes(page_bytes(**about))
    os.chmod(fresh, 0o644)
    os.replace(fresh, path)
    return path


GOOD_METRICS = """\
# HELP timebase_up 1 while timebased runs.
# TYPE timebase_up gauge
timebase_up 1
# HELP timebase_info What runs.
# TYPE timebase_info gauge
timebase_info{version="0.1.0",page="/run/timebase/page",reference="chrony"} 1
# HELP timebase_status Status of the page.
# TYPE timebase_status gauge
timebase_status 2
# HELP timebase_offset_ns Clock - reference.
# TYPE timebase_offset_ns gauge
timebase_offset_ns -12
# HELP timebase_reference_offset_ns CLOCK_REALTIME - UTC.
# TYPE timebase_reference_offset_ns gauge
timebase_reference_offset_ns{source="chrony"} -1500
timebase_reference_offset_ns{source="phc:/dev/ptp0"} 250
# HELP timebase_reference_error_ns Half-width.
# TYPE timebase_reference_error_ns gauge
timebase_reference_error_ns{source="chrony"} 900000
timebase_reference_error_ns{source="phc:/dev/ptp0"} 700
# HELP timebase_reference_up Answers.
# TYPE timebase_reference_up gauge
timebase_reference_up{source="chrony"} 1
timebase_reference_up{source="phc:/dev/ptp0"} 1
# HELP timebase_reference_outdated Has not measured since a disruption.
# TYPE timebase_reference_outdated gauge
timebase_reference_outdated{source="chrony"} 0
timebase_reference_outdated{source="phc:/dev/ptp0"} 0
# HELP timebase_falseticker Contradicts the majority.
# TYPE timebase_falseticker gauge
timebase_falseticker{source="chrony"} 0
timebase_falseticker{source="phc:/dev/ptp0"} 0
# HELP timebase_publications_total Publications.
# TYPE timebase_publications_total counter
timebase_publications_total 1000
# HELP timebase_late_publications_total Late ones.
# TYPE timebase_late_publications_total counter
timebase_late_publications_total 0
# HELP timebase_slews_total Corrections.
# TYPE timebase_slews_total counter
timebase_slews_total 990
# HELP timebase_frequency_error_ppb Of the rate.
# TYPE timebase_frequency_error_ppb gauge
timebase_frequency_error_ppb NaN
# HELP timebase_start_time_seconds Since when.
# TYPE timebase_start_time_seconds gauge
timebase_start_time_seconds 1.79e+09
"""


def write_metrics(folder: Path, text=GOOD_METRICS, age_sec=NEW, name="metrics.prom") -> Path:
    path = folder / name
    path.write_text(text)
    os.chmod(path, 0o644)
    then = time.time() - age_sec
    os.utime(path, (then, then))
    return path
