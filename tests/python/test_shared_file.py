# SPDX-License-Identifier: MIT
"""What is not taken for a daemon's page, and why: each hostile file is refused by name."""

import os
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_pages import COUNTER_ID_OFFSET, page_bytes, write_page

from timebase.api.library import lib
from timebase.status import file
from timebase.status.file import Refused
from timebase.status.page import read_page


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def refused(path):
    with pytest.raises(Refused) as caught:
        read_page(path)
    assert caught.value.advice
    return caught.value


def test_a_good_page_is_taken_and_tells_the_time(tmp_path):
    shared = read_page(write_page(tmp_path))
    instant = shared.now()
    assert instant.status.name == "SYNCHRONIZED"
    assert shared.owner_uid == os.geteuid()
    assert shared.age_ns(instant) >= 0


def test_what_is_not_there_is_missing(tmp_path):
    assert refused(tmp_path / "page").id == "missing"
    assert refused(tmp_path / "page" / "below").id == "missing"


def test_a_name_in_a_deleted_folder_is_missing_and_said_to_be(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    problem = refused(Path("page"))
    assert problem.id == "missing"
    assert "page is not there: the current folder" in str(problem)


def test_a_link_is_not_followed(tmp_path):
    write_page(tmp_path, "elsewhere")
    (tmp_path / "page").symlink_to("elsewhere")
    assert refused(tmp_path / "page").id == "untrusted"


def test_a_folder_or_a_fifo_is_no_page_and_nobody_waits_for_it(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    for name in ("folder", "fifo"):
        problem = refused(tmp_path / name)
        assert problem.id == "untrusted"
        assert "not a regular file" in str(problem)


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o646])
def test_a_page_that_others_may_write_is_refused(tmp_path, mode):
    path = write_page(tmp_path)
    path.chmod(mode)
    problem = refused(path)
    assert problem.id == "untrusted"
    assert f"{mode:04o}" in str(problem)


def test_a_folder_where_others_may_replace_the_page_is_refused(tmp_path):
    path = write_page(tmp_path)
    tmp_path.chmod(0o777)
    try:
        assert refused(path).id == "untrusted"
        tmp_path.chmod(0o1777)  # sticky: others may only add files
        read_page(path)
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user: root only")
def test_a_stranger_is_trusted_in_the_service_folder_alone(tmp_path, monkeypatch):
    nobody = 65534
    path = write_page(tmp_path)
    os.chown(path, nobody, nobody)
    assert refused(path).id == "untrusted"
    given_away = tmp_path / "timebase"
    given_away.mkdir()
    path = write_page(given_away)
    for one in (path, given_away):
        os.chown(one, nobody, nobody)
    assert refused(path).id == "untrusted"
    monkeypatch.setattr(file, "SERVICE_FOLDER", str(given_away))
    read_page(path)
    given_away.chmod(0o1777)  # then the folder says nothing of who may own the page
    assert refused(path).id == "untrusted"
    given_away.chmod(0o755)
    tmp_path.chmod(0o1777)  # then anybody can have made it
    assert refused(path).id == "untrusted"


@pytest.mark.parametrize("size", [0, 1, 128, 511])
def test_a_truncated_page_is_no_time(tmp_path, size):
    path = write_page(tmp_path)
    os.truncate(path, size)
    problem = refused(path)
    assert problem.id == "format"
    assert f"{size} bytes" in str(problem)


def test_a_page_without_lines_is_empty(tmp_path):
    assert refused(write_page(tmp_path, seq=0)).id == "empty"


@pytest.mark.parametrize("offset", [16, 20, 24])
def test_another_magic_size_or_version_is_no_page(tmp_path, offset):
    path = tmp_path / "page"
    data = bytearray(page_bytes())
    struct.pack_into("=I", data, offset, 77)
    path.write_bytes(data)
    assert refused(path).id == "format"


@pytest.mark.parametrize(("version", "size"), [(1, 512), (1, 640), (3, 640), (3, 704)])
def test_a_page_of_another_version_is_named_by_it(tmp_path, version, size):
    path = tmp_path / "page"
    data = bytearray(page_bytes().ljust(size, b"\0")[:size])
    struct.pack_into("=II", data, 20, size, version)
    path.write_bytes(data)
    problem = refused(path)
    assert problem.id == "format"
    assert f"version {version}" in str(problem) and "version 2" in str(problem)


def test_a_feature_that_is_not_known_is_named(tmp_path):
    path = tmp_path / "page"
    data = bytearray(page_bytes())
    struct.pack_into("=I", data, 56, 1 | 1 << 5)
    path.write_bytes(data)
    assert "does not know: 0x20." in str(refused(path))


def test_corrected_ticks_without_their_corrections_are_refused(tmp_path):
    path = tmp_path / "page"
    data = bytearray(page_bytes(counter_id=lib.TIMEBASE_COUNTER_BY_CPU))
    struct.pack_into("=I", data, 56, lib.TIMEBASE_PAGE_CORRECTED_BY_CPU)
    path.write_bytes(data)
    assert "corrected by CPU" in str(refused(path))
    own = lib.timebase_counter_id()
    assert own != lib.TIMEBASE_COUNTER_BY_CPU


def test_a_page_of_another_counter_is_not_read_by_this_one(tmp_path):
    path = tmp_path / "page"
    data = bytearray(page_bytes())
    struct.pack_into("=I", data, COUNTER_ID_OFFSET, 17)
    path.write_bytes(data)
    problem = refused(path)
    assert problem.id == "counter"
    assert "TIMEBASE_COUNTER" in problem.advice


def test_a_page_that_changes_all_the_time_is_given_up(tmp_path, monkeypatch):
    path = write_page(tmp_path)
    real, seq = os.pread, [0]

    def pread(descriptor, count, offset):
        seq[0] += 1
        return struct.pack("=Q", seq[0]) + real(descriptor, count, offset)[8:]

    monkeypatch.setattr(os, "pread", pread)
    assert refused(path).id == "torn"
    assert seq[0] < 1000


def test_nothing_stays_open(tmp_path):
    path = write_page(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        read_page(path)
        path.chmod(0o666)
        refused(path)
        path.chmod(0o644)
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_unreadable_page_says_who_may_read(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(file.os, "open", refuse)
    assert refused(tmp_path / "page").id == "unreadable"


@pytest.fixture(scope="module")
def any_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("any")


@settings(max_examples=200, deadline=None)
@given(data=st.binary(min_size=640, max_size=640), head=st.booleans())
def test_any_640_bytes_are_refused_or_give_some_time(any_folder, data, head):
    path = any_folder / "page"
    path.write_bytes(page_bytes()[:64] + data[64:] if head else data)
    try:
        shared = read_page(path)
    except Refused:
        return
    instant = shared.now()
    assert shared.age_ns(instant) >= 0
