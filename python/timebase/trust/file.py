# SPDX-License-Identifier: MIT
"""Files that another process wrote, opened as the C library's attach opens them.

Nothing is believed that somebody but root, this user or the folder's trusted owner could have put
there; nothing here blocks, whatever the path leads to.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from timebase.errors import TimebaseError

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


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
    try:
        # Not through a link that somebody else may turn; not waiting for the other end of a FIFO.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags)
    except OSError as problem:
        raise _unopened(path, problem) from None
    try:
        about = os.fstat(descriptor)
        _require_trusted(path, about)
        return Opened(
            descriptor, about.st_size, about.st_uid, stat.S_IMODE(about.st_mode), about.st_mtime
        )
    except BaseException:
        os.close(descriptor)
        raise


def _unopened(path: Path, problem: OSError) -> Refused:
    if problem.errno in (errno.ENOENT, errno.ENOTDIR):
        return Refused("missing", f"{path} is not there.", "Start timebased, or name its file.")
    if problem.errno == errno.ELOOP:
        return Refused(
            "untrusted", f"{path} is a symbolic link.", "Name the file that it leads to."
        )
    return Refused(
        "unreadable",
        f"{path} cannot be opened: {problem.strerror}.",
        "Its folder wants mode 0755 and the file 0644; a container needs it mounted read-only.",
    )


def _require_trusted(path: Path, about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise Refused("untrusted", f"{path} is not a regular file.", "Look who has put it there.")
    if about.st_mode & OTHERS_WRITE:
        raise Refused(
            "untrusted",
            f"{path} may be written by others than its owner "
            f"(mode {stat.S_IMODE(about.st_mode):04o}).",
            f"Look who has done that, then: chmod 0644 {path}",
        )
    problem = folder_problem(path.parent)
    if problem is not None:
        raise Refused("untrusted", *problem)
    if about.st_uid not in trusted_owners(path.parent):
        raise Refused(
            "untrusted",
            f"{path} belongs to user {about.st_uid}, who is neither root, nor this user, nor the "
            "owner of a folder that root has made for it.",
            "Have the daemon started by systemd (RuntimeDirectory=timebase) or by root.",
        )


def trusted_owners(folder: Path) -> set[int]:
    """Root, this user, and the owner of a folder that lies in a folder of root's alone: only root
    can have made it and given it away, as systemd does with RuntimeDirectory."""
    owners = {0, os.geteuid()}
    parent = os.stat(folder / "..")
    if parent.st_uid == 0 and not parent.st_mode & OTHERS_WRITE:
        owners.add(os.stat(folder).st_uid)
    return owners


def folder_problem(folder: Path) -> tuple[str, str] | None:
    """Text and advice if others may put another file in the file's place."""
    about = os.stat(folder)
    if about.st_mode & OTHERS_WRITE and not about.st_mode & stat.S_ISVTX:
        return (
            (
                f"Others than its owner may replace files in {folder} "
                f"(mode {stat.S_IMODE(about.st_mode):04o})."
            ),
            f"Look who has done that, then: chmod 0755 {folder}",
        )
    if about.st_uid not in trusted_owners(folder):
        return (
            f"{folder} belongs to user {about.st_uid}, who may replace files in it.",
            "Have the folder made by systemd (RuntimeDirectory=timebase) or by root.",
        )
    return None
