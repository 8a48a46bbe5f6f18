# SPDX-License-Identifier: MIT
"""The files of one machine: below "/", or an invented one's in a test. Unreadable ones are None."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path


class Tree:
    def __init__(self, root: str | os.PathLike = "/"):
        self._root = Path(root)

    def path(self, name: str) -> Path:
        return self._root / name.lstrip("/")

    def text(self, name: str) -> str | None:
        """All of the file without the white space around it."""
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def number(self, name: str) -> int | None:
        """A file that holds one whole number and nothing else."""
        try:
            return int(self.text(name) or "")
        except ValueError:
            return None

    def unpacked(self, name: str) -> str | None:
        """The text of a .gz file."""
        try:
            with gzip.open(self.path(name), "rt", encoding="utf-8", errors="replace") as file:
                return file.read()
        except (OSError, EOFError, zlib.error):
            return None

    def bytes(self, name: str, offset: int, count: int) -> bytes | None:
        """Exactly so many bytes, else None: a part of them has no meaning."""
        try:
            file = os.open(self.path(name), os.O_RDONLY)
        except OSError:
            return None
        try:
            found = os.pread(file, count, offset)
        except OSError:
            return None
        finally:
            os.close(file)
        return found if len(found) == count else None

    def exists(self, name: str) -> bool:
        return self.path(name).exists()

    def writable(self, name: str) -> bool | None:
        """None: there is no such file."""
        return os.access(self.path(name), os.W_OK) if self.exists(name) else None

    def names(self, pattern: str) -> list[str]:
        """What matches, in order, as names of this tree."""
        found = self._root.glob(pattern.lstrip("/"))
        return sorted("/" + path.relative_to(self._root).as_posix() for path in found)
