# SPDX-License-Identifier: MIT
"""Python's rules for files that others wrote, against those of the C library's attach."""

import os
from pathlib import Path

import pytest
from shared_pages import write_page

from timebase import Clock, TimebaseError
from timebase.api.library import lib
from timebase.status.file import Refused, open_trusted

NOBODY = 65534
IDS = {
    lib.TIMEBASE_E_NOT_FOUND: "missing",
    lib.TIMEBASE_E_PERMISSION: "unreadable",
    lib.TIMEBASE_E_UNTRUSTED: "untrusted",
}


def by_c(path):
    """How attach judges the file's place and owner; what it holds is another matter."""
    try:
        Clock.attach(str(path)).close()
    except TimebaseError as problem:
        return IDS.get(problem.code)
    return None


def by_python(path):
    try:
        os.close(open_trusted(path).descriptor)
    except Refused as refused:
        return refused.id
    return None


def linked_folder(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "a")
    return tmp_path / "link" / "b" / "page"


def linked_file(tmp_path):
    path = tmp_path / "a" / "b" / "link"
    path.symlink_to("page")
    return path


def fifo(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def changed(part, mode=None, owner=None):
    def change(tmp_path):
        path = tmp_path / part
        if owner is not None:
            os.chown(path, owner, owner)
        if mode is not None:
            path.chmod(mode)
        return tmp_path / "a" / "b" / "page"

    return change


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files away: root only")

CASES = {
    "good": (lambda tmp_path: tmp_path / "a/b/page", None),
    "not there": (lambda tmp_path: tmp_path / "a/b/none", "missing"),
    "no folder there": (lambda tmp_path: tmp_path / "none/page", "missing"),
    "a file for a folder": (lambda tmp_path: tmp_path / "a/b/page/page", "untrusted"),
    "up and down again": (lambda tmp_path: tmp_path / "a/../a/b/page", None),
    "linked file": (linked_file, "untrusted"),
    "linked folder": (linked_folder, "untrusted"),
    "folder": (lambda tmp_path: tmp_path / "a/b", "untrusted"),
    "fifo": (fifo, "untrusted"),
    "device": (lambda _: "/dev/zero", "untrusted"),
    "file for the group": (changed("a/b/page", 0o664), "untrusted"),
    "file for all": (changed("a/b/page", 0o646), "untrusted"),
    "folder for the group": (changed("a/b", 0o775), "untrusted"),
    "sticky folder": (changed("a/b", 0o1777), None),
    "a folder above, for all": (changed("a", 0o777), "untrusted"),
    "a folder above, sticky": (changed("a", 0o1777), None),
}
OWNERS = {
    "file": (changed("a/b/page", owner=NOBODY), "untrusted"),
    "folder": (changed("a/b", owner=NOBODY), "untrusted"),
    "a folder above": (changed("a", owner=NOBODY), "untrusted"),
    "a folder above, sticky": (changed("a", 0o1777, NOBODY), "untrusted"),
}


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        *(pytest.param(*value, id=key) for key, value in CASES.items()),
        *(pytest.param(*value, id=f"another's {k}", marks=as_root) for k, value in OWNERS.items()),
    ],
)
def test_both_judge_alike(tmp_path, case, expected):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    for one in (tmp_path, folder.parent, folder):
        one.chmod(0o755)
    write_page(folder).chmod(0o644)
    path = Path(case(tmp_path))
    assert (by_c(path), by_python(path)) == (expected, expected)
