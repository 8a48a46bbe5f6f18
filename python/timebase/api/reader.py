# SPDX-License-Identifier: MIT
"""The readings: by the C extension where there is one, else through cffi.

The extension (python/native/fast.c) takes a third of the time. It is missing where the package was
built for another Python than CPython, or without Python's headers. Both read the same clocks.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from timebase.api.library import ffi, lib, library_path

EXTENSION = "_fast"
FILE = "timebase_fast.so"


def _extension():
    """The module, from beside the C library; ImportError where there is none."""
    if sys.implementation.name != "cpython":
        raise ImportError("the extension is CPython's")
    library = Path(library_path())
    if not library.is_absolute():  # the linker's to find; nothing is loaded from this folder
        raise ImportError("the extension is not beside the library")
    spec = spec_from_file_location(EXTENSION, str(library.with_name(FILE)))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


try:
    _fast = _extension()
except ImportError:
    is_fast = False

    class Reader:
        _clock_read = lib.timebase_clock_default()

        def _point(self, address: int) -> None:
            self._clock_read = ffi.cast("timebase_clock *", address)

        def _address(self) -> int:
            return int(ffi.cast("uintptr_t", self._clock_read))

        def utc_ns(self) -> int:
            return lib.timebase_utc_ns(self._clock_read)

        def utc_ns_unordered(self) -> int:
            return lib.timebase_utc_ns_unordered(self._clock_read)

        def mono_ns(self) -> int:
            return lib.timebase_mono_ns(self._clock_read)

        def mono_ns_unordered(self) -> int:
            return lib.timebase_mono_ns_unordered(self._clock_read)

        def tai_ns(self) -> int:
            return lib.timebase_tai_ns(self._clock_read)

        def tai_ns_unordered(self) -> int:
            return lib.timebase_tai_ns_unordered(self._clock_read)

        def _utc_interval(self) -> tuple[int, int, int]:
            return self._bounded(lib.timebase_utc_interval)

        def _realtime_interval(self) -> tuple[int, int, int]:
            return self._bounded(lib.timebase_realtime_interval)

        def _bounded(self, read) -> tuple[int, int, int]:
            out = ffi.new("struct timebase_interval *")
            status = read(self._clock_read, out)
            return out.earliest_ns, out.latest_ns, status

    def ticks() -> int:
        return lib.timebase_ticks()

    def ticks_ordered() -> int:
        return lib.timebase_ticks_ordered()

else:
    is_fast = True
    Reader, ticks, ticks_ordered = _fast.Reader, _fast.ticks, _fast.ticks_ordered

__all__ = ["Reader", "is_fast", "ticks", "ticks_ordered"]
