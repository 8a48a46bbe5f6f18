# SPDX-License-Identifier: MIT
"""Files that another process wrote, opened as the C library's attach opens them.

The rules are those of src/clock/attach/trusted.h, and tests/python/test_trust_rules.py holds the
two against each other: here each refusal has a text. A file is refused if a user other than root,
this user or the owner of the service folder could have put it there. Opening never blocks, even if
the path leads to a FIFO or a device.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from timebase.api.clock import DEFAULT_PAGE
from timebase.api.errors import TimebaseError

ROOT = 0
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
SERVICE_FOLDER = os.path.dirname(DEFAULT_PAGE)  # may have any owner: root made it, and gave it away


class Refused(TimebaseError):
    """A file that is not taken. `id`: missing, unreadable, untrusted, format, counter, empty,
    torn."""

    def __init__(self, id: str, text: str, advice: str):
        super().__init__(text)
        self.id = id
        self.advice = advice


@dataclass(frozen=True)
class Opened:
    """The caller closes it."""

    descriptor: int
    size: int
    owner_uid: int
    mode: int  # permissions alone
    modified_sec: float  # CLOCK_REALTIME of the last change


def open_trusted(path: Path) -> Opened:
    """Refused says why not, and what to do."""
    path = _absolute(path)
    with _folder_of(path) as (folder, owner):
        descriptor = _open_in(folder, path)
    try:
        about = os.fstat(descriptor)
        _require_trusted(path, about, owner)
        return Opened(
            descriptor, about.st_size, about.st_uid, stat.S_IMODE(about.st_mode), about.st_mtime
        )
    except BaseException:
        os.close(descriptor)
        raise


def _absolute(path: Path) -> Path:
    try:
        return path.absolute()
    except FileNotFoundError:  # of the current folder
        raise Refused(
            "missing",
            f"{path} is not there: the current folder has been deleted.",
            "Name the file by its whole path.",
        ) from None


@contextmanager
def _folder_of(path: Path) -> Iterator[tuple[int, int]]:
    """The open folder that the file is in, and who may own the file beside root and this user.

    Each folder is held open while the next is looked up: what has been checked is what is used.
    """
    folder, owner, place = _open_folder("/", None, Path("/")), ROOT, Path("/")
    try:
        _require_safe_folder(place, os.fstat(folder), ROOT)
        for name in path.parts[1:-1]:
            parent, place = folder, place / name
            folder = _open_folder(name, parent, place)
            is_service = str(place) == SERVICE_FOLDER and _is_safe(os.fstat(parent), ROOT)
            os.close(parent)
            about = os.fstat(folder)
            if is_service:
                owner = _given_to(about)
            _require_safe_folder(place, about, owner if is_service else ROOT)
        yield folder, owner
    finally:
        os.close(folder)


def _open_folder(name: str, parent: int | None, place: Path) -> int:
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=parent)
    except OSError as problem:
        raise _unopened(place, problem) from None


def _open_in(folder: int, path: Path) -> int:
    # Follow no link, which another user may change; do not wait for the other end of a FIFO.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        # Look first: opening some devices has effects.
        _require_regular(path, os.stat(path.name, dir_fd=folder, follow_symlinks=False))
        return os.open(path.name, flags, dir_fd=folder)
    except OSError as problem:
        raise _unopened(path, problem) from None


def _unopened(path: Path, problem: OSError) -> Refused:
    if problem.errno == errno.ENOENT:
        return Refused("missing", f"{path} is not there.", "Start timebased, or name its file.")
    if problem.errno in (errno.ELOOP, errno.ENOTDIR):
        return Refused(
            "untrusted",
            f"{path} is a symbolic link, or no folder.",
            "Name the file without links: realpath tells.",
        )
    return Refused(
        "unreadable",
        f"{path} cannot be opened: {problem.strerror}.",
        "Its folder wants mode 0755 and the file 0644; a container needs it mounted read-only.",
    )


def _is_owner(about: os.stat_result, owner: int) -> bool:
    return about.st_uid in (ROOT, owner, os.geteuid())


def _is_safe(about: os.stat_result, owner: int) -> bool:
    return _is_owner(about, owner) and not about.st_mode & OTHERS_WRITE


def _given_to(folder: os.stat_result) -> int:
    """The owner of the files in it. If others may write the folder, its owner says nothing about
    the files' owners: root."""
    return ROOT if folder.st_mode & OTHERS_WRITE else folder.st_uid


def _require_safe_folder(folder: Path, about: os.stat_result, owner: int) -> None:
    if not _is_owner(about, owner):
        raise Refused(
            "untrusted",
            f"{folder} belongs to user {about.st_uid}, who may replace what is in it.",
            f"Have systemd make {SERVICE_FOLDER} (RuntimeDirectory=timebase), or root the folder.",
        )
    if about.st_mode & OTHERS_WRITE and not about.st_mode & stat.S_ISVTX:
        raise Refused(
            "untrusted",
            f"Others than its owner may replace what is in {folder} "
            f"(mode {stat.S_IMODE(about.st_mode):04o}).",
            f"Look who has done that, then: chmod 0755 {folder}",
        )


def _require_regular(path: Path, about: os.stat_result) -> None:
    if stat.S_ISLNK(about.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(about.st_mode):
        raise Refused("untrusted", f"{path} is not a regular file.", "Look who has put it there.")


def _require_trusted(path: Path, about: os.stat_result, owner: int) -> None:
    _require_regular(path, about)
    if about.st_mode & OTHERS_WRITE:
        raise Refused(
            "untrusted",
            f"{path} may be written by others than its owner "
            f"(mode {stat.S_IMODE(about.st_mode):04o}).",
            f"Look who has done that, then: chmod 0644 {path}",
        )
    if not _is_safe(about, owner):
        raise Refused(
            "untrusted",
            f"{path} belongs to user {about.st_uid}, who is neither root, nor this user, nor the "
            f"owner of {SERVICE_FOLDER} if it lies there.",
            "Have the daemon started by systemd (RuntimeDirectory=timebase) or by root.",
        )
