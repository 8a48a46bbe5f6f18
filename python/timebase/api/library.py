# SPDX-License-Identifier: MIT
"""Opens the shared library that lies beside this package: `lib`, cffi's `ffi`, and `check`.

The declarations in `_declarations` are made from the C headers when the package is built.
cffi releases the interpreter's lock during every call, so C loops do not stop other threads.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

from timebase.api._declarations import ffi
from timebase.api.errors import EnvironmentVariableError, EstimateError, TimebaseError

NAME = "libtimebase_python.so"
INSIDE = "_libs"  # of the package, where Meson installed it with the C library
# Where meson-python puts a package's shared libraries: beside the package.
FOLDER = ".timebase.mesonpy.libs"
COUNTER_VARIABLE = "TIMEBASE_COUNTER"
COUNTERS = ("auto", "os")


def library_path() -> str:
    """Of the C library, for the dynamic linker."""
    package = Path(__file__).resolve().parents[1]
    inside = package / INSIDE / NAME
    beside = package.parent / FOLDER / NAME
    site = Path(sysconfig.get_path("platlib")) / FOLDER / NAME
    for path in (inside, beside, site):
        if path.exists():
            return str(path)
    return NAME  # installed with the system's own libraries


def _open():
    try:
        return ffi.dlopen(library_path())
    except OSError as problem:
        raise ImportError(f"timebase: cannot load its C library: {problem}") from None


def _choose_counter() -> None:
    """TIMEBASE_COUNTER=os takes the kernel's clock for the counter. auto is the default."""
    choice = os.environ.get(COUNTER_VARIABLE, "auto")
    if choice not in COUNTERS:
        raise EnvironmentVariableError(COUNTER_VARIABLE, choice, COUNTERS)
    if choice == "os":
        check(lib.timebase_counter_select(lib.TIMEBASE_COUNTER_OS))


def text_of(result: int) -> str:
    """The C library's sentence for one of its results."""
    return ffi.string(lib.timebase_strerror(result)).decode()


def check(result: int) -> int:
    """Returns `result` if it is not negative, else raises TimebaseError with its text."""
    if result >= 0:
        return result
    kind = EstimateError if result == lib.TIMEBASE_E_ESTIMATE else TimebaseError
    raise kind(text_of(result), result)


lib = _open()
_choose_counter()
