# SPDX-License-Identifier: MIT
"""A clock attached to somebody else's page, as Python and the command line have it."""

import os
import shlex
import struct
import time

import pytest

import timebase
from timebase import AttachmentState, Clock, Page, Status, TimebaseError
from timebase.api.library import lib

COUNTER_ID_OFFSET = 28  # spec/page.md
SYNCHRONIZED = int(Status.SYNCHRONIZED)


def make_page() -> bytearray:
    """One line through now, at the pace of the process' own clock."""
    own = timebase.default_clock()
    while own.statistics()["frequency_hz"] == 0:
        own.now()
    now = own.now()
    hz = own.statistics()["frequency_hz"]
    period = (10**9 << 64) // hz
    line = {
        "start_ticks": now.ticks,
        "mono_ns": now.mono_ns,
        "utc_ns": now.utc_ns % 2**64,
        "period_ns": period >> 64,
        "period_frac": period % 2**64,
        "flags": SYNCHRONIZED,
        "maxerror_ns": 1_000_000,
        "utc_maxerror_ns": 2_000_000,
    }
    page = bytearray(Page.from_lines(line, line, line, refresh_ticks=hz).to_bytes())
    struct.pack_into("=I", page, COUNTER_ID_OFFSET, own.statistics()["counter_id"])
    return page


def write(path, content) -> None:
    path.write_bytes(bytes(content))
    path.chmod(0o644)


@pytest.fixture
def page_file(tmp_path):
    for folder in (tmp_path, tmp_path.parent):
        folder.chmod(0o755)
    path = tmp_path / "page"
    write(path, make_page())
    return path


def test_an_attached_clock_tells_the_time_of_its_page(page_file):
    with Clock.attach(page_file) as clock:
        before = time.clock_gettime_ns(time.CLOCK_REALTIME)
        now = clock.now()
        after = time.clock_gettime_ns(time.CLOCK_REALTIME)
        assert before - now.maxerror_ns <= now.utc_ns <= after + now.maxerror_ns
        assert now.status == Status.SYNCHRONIZED
        assert clock.at(now.ticks) == now
        interval = clock.interval()
        assert interval.width_ns >= 2 * 3_000_000
        assert clock.statistics()["publications"] == 1


def test_the_attachment_says_how_things_stand(page_file):
    with Clock.attach(str(page_file)) as clock:
        attachment = clock.attachment
        assert attachment.state == AttachmentState.CURRENT
        assert attachment.error is None
        assert attachment.seq == 2
        assert attachment.openings == 1
        assert attachment.mono_offset_ns == 0
        os.truncate(page_file, 0)
        assert "not a timebase page" in clock.attachment.error


def test_the_own_clock_is_attached_to_nothing():
    assert timebase.default_clock().attachment.state == AttachmentState.PRIVATE


def test_a_closed_clock_is_the_own_one(page_file):
    clock = Clock.attach(os.fsencode(page_file))
    clock.close()
    clock.close()
    assert clock.attachment.state == AttachmentState.PRIVATE
    assert clock.utc_ns() > 0


def test_no_page_is_an_error_that_names_it(tmp_path):
    with pytest.raises(TimebaseError, match="none: there is no such file") as problem:
        Clock.attach(tmp_path / "none")
    assert problem.value.code < 0


def test_a_page_that_others_may_write_is_refused(page_file):
    page_file.chmod(0o666)
    with pytest.raises(TimebaseError, match="may change"):
        Clock.attach(page_file)


def test_what_is_no_file_is_not_said_to_be_in_others_hands_alone():
    with pytest.raises(TimebaseError, match="/etc: .*no regular file"):
        Clock.attach("/etc")


def test_a_path_is_not_cut_at_a_null_byte(page_file):
    with pytest.raises(TimebaseError, match="null byte"):
        Clock.attach(f"{page_file}\0.mine")


def test_rubbish_is_refused(page_file):
    write(page_file, b"x" * 640)
    with pytest.raises(TimebaseError, match="not a timebase page"):
        Clock.attach(page_file)


def test_now_by_a_page(timebase_command, page_file):
    outcome = timebase_command("now", "--page", str(page_file), "--json")
    assert outcome.code == 0, outcome.err
    assert '"status": "SYNCHRONIZED"' in outcome.out


def test_now_without_the_page(timebase_command):
    outcome = timebase_command("now", "--page", "/none/page")
    assert outcome.code == 1
    assert "/none is not there" in outcome.err
    assert "→ Start timebased" in outcome.err


def test_now_names_the_one_cause_of_a_refusal_and_what_to_do(timebase_command, page_file):
    page_file.chmod(0o666)
    outcome = timebase_command("now", "--page", str(page_file))
    assert outcome.code == 1
    assert "may be written by others than its owner (mode 0666)" in outcome.err
    assert f"→ Look who has done that, then: chmod 0644 {page_file}" in outcome.err


@pytest.mark.parametrize("name", ["missing", "a folder", "text"])
def test_a_refusal_names_the_command_that_tells_the_cause(tmp_path, name):
    (tmp_path / "a folder").mkdir()
    (tmp_path / "text").write_text("no page\n")
    with pytest.raises(TimebaseError) as refused:
        Clock.attach(tmp_path / name)
    path = shlex.quote(str(tmp_path / name))
    assert f"`timebase status --page {path}` says more" in str(refused.value)


def shifted(offset, by) -> bytearray:
    """The page with one word of each line of both copies moved."""
    page = make_page()
    for line in range(128, 640, 64):
        if line % 256 != 64:  # the validity comes fourth
            (word,) = struct.unpack_from("=Q", page, line + offset)
            struct.pack_into("=Q", page, line + offset, (word + by) % 2**64)
    return page


def without_lines() -> bytearray:
    page = make_page()
    struct.pack_into("=Q", page, 0, 0)
    return page


@pytest.mark.parametrize(
    "page, why",
    [
        (without_lines, "it has no lines yet"),
        (lambda: shifted(0, 2**60), "its lines have not begun"),
        (lambda: shifted(16, 2**50), "its time is not the system clock's"),
    ],
)
def test_each_cause_of_staleness_has_its_sentence(page_file, page, why):
    write(page_file, page())
    with pytest.raises(TimebaseError, match=why) as refused:
        Clock.attach(page_file)
    assert refused.value.code == lib.TIMEBASE_E_STALE
