# SPDX-License-Identifier: MIT
"""A file that is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from timebase.api.errors import InputError


def require_writable(path: Path) -> None:
    """Raises InputError if write_whole() could not write there. Leaves nothing behind."""
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a directory")
    if path.exists() and not path.is_file():  # renaming would put a file in a device's place
        raise InputError(f"cannot write {path}: it is not a regular file")
    os.unlink(_new_file_beside(path))


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file beside `path` and renames it. At any time, and after any failure, `path` is
    either the old file or the new one, whole."""
    written = _new_file_beside(path)
    try:
        Path(written).write_bytes(content if isinstance(content, bytes) else content.encode())
        os.chmod(written, _usual_mode())
        os.replace(written, path)
    except BaseException:
        os.unlink(written)
        raise


def require_folder(folder: Path) -> None:
    """Raises InputError unless `folder` can be written to, or made. Makes nothing yet."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise InputError(f"cannot write into {folder}: {there} is not a directory")
    try:
        os.unlink(_new_file_beside(there / "any"))
    except InputError as problem:
        reason = str(problem).rsplit(": ", 1)[-1]
        raise InputError(f"cannot write into {folder}: {reason}") from None


def _usual_mode() -> int:
    """What open() gives a new file; temporary files are for their owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _new_file_beside(path: Path) -> str:
    """In the same folder: renaming is one step only within a file system."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as problem:
        raise InputError(f"cannot write {path}: {problem.strerror}") from None
    os.close(descriptor)
    return name
