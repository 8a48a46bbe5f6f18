# SPDX-License-Identifier: MIT
"""A page made of bytes or of fields. The C library converts ticks by it.

For tests and tools; the clock has its own page. The layout is that of struct timebase_page, read
from the C header when this package was built.
"""

from __future__ import annotations

import sys

from timebase.api.clock import Instant, instant_from_c
from timebase.api.errors import TimebaseError
from timebase.api.library import check, ffi, lib

_ALIGNMENT = 64  # of struct timebase_page; cffi's own memory is aligned to 16 at most


def _swap_words(c_type, data: bytearray, offset: int) -> None:
    """Reverses the bytes of every number that `c_type` at `offset` is made of."""
    if c_type.kind == "struct":
        for _, field in c_type.fields:
            _swap_words(field.type, data, offset + field.offset)
    elif c_type.kind == "array":
        for index in range(c_type.length):
            _swap_words(c_type.item, data, offset + index * ffi.sizeof(c_type.item))
    else:
        end = offset + ffi.sizeof(c_type)
        data[offset:end] = data[offset:end][::-1]


def version_of(data: bytes, byteorder: str = sys.byteorder) -> int | None:
    """Of what begins as pages of all versions do; None: not a page."""
    fields = dict(_fields("struct timebase_page"))

    def word(name):
        start = fields[name].offset
        return int.from_bytes(data[start : start + ffi.sizeof("uint32_t")], byteorder)

    return word("version") if word("magic") == lib.TIMEBASE_PAGE_MAGIC else None


def _fields(c_type):
    return (ffi.typeof(c_type) if isinstance(c_type, str) else c_type).fields


def _is_number(field) -> bool:
    return field.type.kind == "primitive"


class Page:
    """640 bytes that turn a tick into a time. One thread at a time."""

    def __init__(self):
        size = ffi.sizeof("struct timebase_page")
        self._memory = ffi.new("char[]", size + _ALIGNMENT)
        start = -int(ffi.cast("uintptr_t", self._memory)) % _ALIGNMENT
        self._page = ffi.cast("struct timebase_page *", self._memory + start)
        self._page.magic = lib.TIMEBASE_PAGE_MAGIC
        self._page.size = lib.TIMEBASE_PAGE_SIZE
        self._page.version = lib.TIMEBASE_PAGE_VERSION

    @classmethod
    def from_bytes(cls, data: bytes, byteorder: str = sys.byteorder) -> Page:
        """From a copy of a page written on a machine of that byte order, "little" or "big"."""
        page = cls()
        buffer = ffi.buffer(page._page, ffi.sizeof("struct timebase_page"))
        version = version_of(data, byteorder)
        if version not in (None, lib.TIMEBASE_PAGE_VERSION):
            raise TimebaseError(
                f"a page of version {version}; this library reads version"
                f" {lib.TIMEBASE_PAGE_VERSION}",
                lib.TIMEBASE_E_FORMAT,
            )
        if len(data) != len(buffer):
            raise TimebaseError(f"a page has {len(buffer)} bytes, not {len(data)}")
        native = bytearray(data)
        if byteorder != sys.byteorder:
            _swap_words(ffi.typeof("struct timebase_page"), native, 0)
        buffer[:] = bytes(native)
        return page

    @classmethod
    def from_lines(
        cls,
        before: dict,
        slew: dict,
        after: dict,
        refresh_ticks: int = 1 << 62,
        seq: int = 2,
        validity: dict | None = None,
    ) -> Page:
        """From the fields of the three lines, by the names of struct timebase_line; what is not
        named is 0. Those of struct timebase_validity: what is not named never ends. Both copies
        hold them."""
        expiry = dict.fromkeys(("silent_ticks", "void_ticks"), lib.TIMEBASE_PAGE_NEVER)
        expiry.update(validity or {})
        page = cls()
        page._page.seq = seq
        page._page.refresh_ticks = refresh_ticks
        for copy in page._page.copy:
            parts = (copy.before, before), (copy.slew, slew), (copy.after, after)
            for line, fields in (*parts, (copy.validity, expiry)):
                for name, value in fields.items():
                    setattr(line, name, value)
        return page

    def to_bytes(self) -> bytes:
        """The page in this machine's byte order."""
        return bytes(ffi.buffer(self._page, ffi.sizeof("struct timebase_page")))

    def header(self) -> dict:
        """The words before the two copies, by the names of struct timebase_page."""
        names = [name for name, field in _fields("struct timebase_page") if _is_number(field)]
        return {name: getattr(self._page, name) for name in names}

    def lines(self) -> dict:
        """The lines of the copy that seq names: {"before": {"start_ticks": ...}, "slew": ...,
        "after": ...}."""
        copy = self._page.copy[self._page.seq & 1]
        return {
            name: {key: getattr(getattr(copy, name), key) for key, _ in _fields(field.type)}
            for name, field in _fields("struct timebase_lines")
            if field.type is ffi.typeof("struct timebase_line")
        }

    def validity(self) -> dict:
        """How long that copy holds, and its estimated errors: {"silent_ticks": ...}."""
        validity = self._page.copy[self._page.seq & 1].validity
        names = [name for name, field in _fields("struct timebase_validity") if _is_number(field)]
        return {name: getattr(validity, name) for name in names}

    def validate(self) -> None:
        """Raises TimebaseError if the library cannot read this page."""
        check(lib.timebase_page_validate(self._page))

    def convert(self, ticks: int) -> Instant:
        """What a tick means by this page."""
        out = ffi.new("struct timebase_instant *")
        if not lib.timebase_page_convert(self._page, ticks, out):
            raise TimebaseError("the page holds no lines")
        return instant_from_c(out)

    def ticks_at_mono(self, mono_ns: int) -> int:
        """The first tick at which the page's monotonic time is mono_ns or later."""
        return self._inverse(lib.timebase_page_ticks_at_mono, mono_ns)

    def ticks_at_utc(self, utc_ns: int) -> int:
        """The first tick at which the page's UTC is utc_ns or later."""
        return self._inverse(lib.timebase_page_ticks_at_utc, utc_ns)

    def _inverse(self, function, target_ns: int) -> int:
        ticks = ffi.new("uint64_t *")
        if not function(self._page, target_ns, ticks):
            raise TimebaseError("the page holds no lines")
        return ticks[0]
