# SPDX-License-Identifier: MIT
"""A file that is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from timebase.errors import InputError


def require_writable(path: Path) -> None:
    """Raises InputError if write_whole() could not write there. Leaves nothing behind."""
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a directory")
    os.unlink(_new_file_beside(path))


def write_whole(path: Path, text: str) -> None:
    """Writes beside `path` and renames: whoever looks, whenever it fails, finds the old file or
    the new one."""
    written = _new_file_beside(path)
    try:
        Path(written).write_text(text, encoding="utf-8")
        os.chmod(written, _usual_mode())
        os.replace(written, path)
    except BaseException:
        os.unlink(written)
        raise


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
