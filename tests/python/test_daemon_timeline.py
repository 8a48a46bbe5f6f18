# SPDX-License-Identifier: MIT
"""A daemon's timeline: ticks that were read then mean later what an attached clock said of them."""

import signal
import time

import pytest
from daemons import eventually, needs_program
from prometheus_client.parser import text_string_to_metric_families

from timebase import Clock, Timeline, TimelineError

pytestmark = needs_program


@pytest.fixture
def start(start, tmp_path):
    """start(*arguments): daemons with a timeline."""
    timeline = f"--timeline={tmp_path / 'timeline'}"
    return lambda *arguments, **more: start(timeline, "--interval=100ms", *arguments, **more)


def readings_while(clock, daemon, publications):
    """Instants from an attached clock, as fast as they come, over so many publications, and whether
    one of these was late. That is stored with the next one."""
    first = daemon.wait_for_page()
    found = []
    while daemon.wait_for_page().seq < first.seq + publications:
        found += [clock.now() for _ in range(20)]
        time.sleep(0.001)
    last = daemon.wait_for_page(beyond=daemon.wait_for_page().seq + 1)
    return found, last.late_count > first.late_count


def meant(instant):
    return instant.ticks, instant.mono_ns, instant.utc_ns


def assert_meant(timeline, said, was_late):
    """The same; of a daemon that was held up, readers are on the old line for a while, whose bound
    holds: docs/bound.md, A7."""
    for one in said:
        told = timeline.at(one.ticks)
        if was_late:
            slack_ns = told.maxerror_ns + one.maxerror_ns
            assert abs(told.mono_ns - one.mono_ns) <= slack_ns
            assert abs(told.utc_ns - one.utc_ns) <= slack_ns
        else:
            assert meant(told) == meant(one)


def test_a_tick_means_what_an_attached_clock_said_of_it(start, tmp_path):
    daemon = start()
    daemon.wait_for_page(beyond=3)
    with Clock.attach(daemon.page) as clock:
        said, was_late = readings_while(clock, daemon, 12)
    assert daemon.end() == 0
    with Timeline(tmp_path / "timeline") as timeline:
        assert_meant(timeline, said, was_late)
        assert list(timeline.damages) == []


def test_after_the_end_nothing_is_drawn_on(start, tmp_path):
    daemon = start()
    daemon.wait_for_page(beyond=3)
    with Clock.attach(daemon.page) as clock:
        daemon.end()
        time.sleep(0.3)
        late = clock.now().ticks
    with Timeline(tmp_path / "timeline") as timeline, pytest.raises(TimelineError):
        timeline.at(late)


def test_a_daemon_that_was_killed_is_a_gap_and_the_next_goes_on(start, tmp_path):
    first = start()
    first.wait_for_page(beyond=3)
    first.end(signal.SIGKILL)
    second = start()
    seq = second.wait_for_page().seq
    second.wait_for_page(beyond=seq + 2)
    with Clock.attach(second.page) as clock:
        said, was_late = readings_while(clock, second, 3)
    second.end()
    with Timeline(tmp_path / "timeline") as timeline:
        assert_meant(timeline, said, was_late)
        assert list(timeline.damages) == []


# ---- what fails


def test_a_folder_that_cannot_be_made_is_told_as_that(start, tmp_path):
    daemon = start(f"--timeline={tmp_path / 'missing/timeline'}")
    daemon.wait_for_log("missing/timeline: the folder, or the one above it, is not there: ")
    assert daemon.end() == 0


def failures(daemon):
    text = daemon.page.with_name("metrics.prom").read_text()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    return families["timebase_timeline_failures"].samples[0].value


@pytest.mark.slow
def test_a_limit_on_files_is_told_once_and_ends_nothing(start, tmp_path):
    """SIGXFSZ, which would kill it: the page and the metrics are smaller than the limit."""
    daemon = start(prefix=["prlimit", "--fsize=8192"])
    daemon.wait_for_log("timeline .*publications go on without it")
    path = daemon.page.with_name("metrics.prom")
    eventually(lambda: path.exists() and failures(daemon) > 1, "failures that are counted")
    seq = daemon.wait_for_page().seq
    daemon.wait_for_page(beyond=seq + 5)
    assert daemon.log.count("publications go on without it") == 1
    assert daemon.end() == 0
