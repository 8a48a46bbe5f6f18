# SPDX-License-Identifier: MIT
"""The preload library, for programs of 64 and of 32 bits."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from timebase.api.library import library_path
from timebase.exec.program import look

NAME = "libtimebase-preload.so"
FOLDER = "timebase"  # below a folder of libraries
SYSTEM = ("/usr/local/lib", "/usr/lib", "/usr/local/lib64", "/usr/lib64")
NARROW = ("lib32", "i386-linux-gnu", "i686-linux-gnu")
VARIABLE = "TIMEBASE_PRELOAD_LIBRARY"  # another one: for tests


def find(bits: int) -> str | None:
    """The first of this word size."""
    for path in _places():
        if path.is_file() and look(str(path)).bits == bits:
            return str(path)
    return None


def _places() -> Iterator[Path]:
    named = os.environ.get(VARIABLE)
    if named:
        yield Path(named)
        return
    beside = Path(library_path()).parent
    yield from (beside / NAME, beside / "32" / NAME)
    # Installed with the C library: the package is in lib/timebase/python/timebase.
    yield Path(__file__).resolve().parents[3] / NAME
    multiarch = sysconfig.get_config_var("MULTIARCH") or f"{os.uname().machine}-linux-gnu"
    for folder in (f"{sys.prefix}/lib", *SYSTEM):
        for below in ("", multiarch, *NARROW):
            yield Path(folder) / below / FOLDER / NAME
    for folder in ("/usr/lib32", "/usr/local/lib32"):
        yield Path(folder) / FOLDER / NAME
