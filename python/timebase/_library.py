# SPDX-License-Identifier: MIT
"""Opens the shared library that lies beside this package: `lib` and cffi's `ffi`.

The declarations in `_declarations` are made from the C headers when the package is built.
cffi releases the interpreter's lock during every call, so C loops do not stop other threads.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

from timebase._declarations import ffi
from timebase.errors import EnvironmentVariableError, check

NAME = "libtimebase_python.so"
# Where meson-python puts a package's shared libraries: beside the package.
FOLDER = ".timebase.mesonpy.libs"
COUNTER_VARIABLE = "TIMEBASE_COUNTER"
COUNTERS = ("auto", "os")


def library_path() -> str:
    """Of the C library, for the dynamic linker."""
    beside = Path(__file__).resolve().parent.parent / FOLDER / NAME
    site = Path(sysconfig.get_path("platlib")) / FOLDER / NAME
    for path in (beside, site):
        if path.exists():
            return str(path)
    return NAME  # installed with the system's own libraries


def _open():
    try:
        return ffi.dlopen(library_path())
    except OSError as problem:
        raise ImportError(f"timebase: cannot load its C library: {problem}") from None


def _choose_counter() -> None:
    """TIMEBASE_COUNTER=os takes the kernel's clock for the counter; auto is what happens anyway."""
    choice = os.environ.get(COUNTER_VARIABLE, "auto")
    if choice not in COUNTERS:
        raise EnvironmentVariableError(COUNTER_VARIABLE, choice, COUNTERS)
    if choice == "os":
        check(lib.timebase_counter_select(lib.TIMEBASE_COUNTER_OS))


lib = _open()
_choose_counter()
