# SPDX-License-Identifier: MIT
"""The page of spec/page.md in exact integers: what every reader has to come to.

Written from the specification, not from the C code: times are floors of exact rationals, and
the inverse is found by division instead of search.
"""

import struct
from dataclasses import dataclass, field, replace

MAGIC = 0x47504254
SIZE = 640
VERSION = 2
U32 = (1 << 32) - 1
U64 = (1 << 64) - 1

STATUS_MASK = 0xF
STATUS_MAX = 4
TAI_VALID = 0x10
LEAP_INSERT = 0x20
LEAP_DELETE = 0x40
ESTIMATE = 0x80
NEVER_MOVED = 0x100
COUNTER_DISTRUSTED = 0x200
TAI_SHIFT = 16
INITIALIZING, SYNCHRONIZED, FREERUNNING = 1, 2, 3

CORRECTED_BY_CPU = 1
UNDERSTOOD = 0  # of the incompatible features
NEVER = 1 << 63

PERIOD_MAX_NS = 1000
ERROR_MAX_NS = 1 << 62
NAMES = ("before", "slew", "after")


def signed(value):
    """The 64-bit two's complement number that these bits are."""
    value &= U64
    return value - (1 << 64) if value >> 63 else value


@dataclass(frozen=True)
class Line:
    start_ticks: int = 0
    mono_ns: int = 0
    utc_ns: int = 0
    period: int = 1 << 64  # ns with 64 binary places
    flags: int = 0
    maxerror_ns: int = 0
    drift_rate: int = 0
    slew_rate: int = 0
    utc_maxerror_ns: int = 0

    def pack(self, order):
        return struct.pack(
            order + "QQQQIIQIIQ",
            self.start_ticks & U64,
            self.mono_ns & U64,
            self.utc_ns & U64,
            self.period & U64,
            self.period >> 64,
            self.flags,
            self.maxerror_ns,
            self.drift_rate,
            self.slew_rate,
            self.utc_maxerror_ns,
        )


@dataclass(frozen=True)
class Validity:
    silent_ticks: int = NEVER
    void_ticks: int = NEVER
    esterror_ns: tuple = (0, 0, 0)  # before, slew, after
    esterror_rate: int = 0
    reserved32: int = 0
    reserved: tuple = (0, 0)

    def pack(self, order):
        return struct.pack(
            order + "QQ3QII2Q",
            self.silent_ticks,
            self.void_ticks,
            *self.esterror_ns,
            self.esterror_rate,
            self.reserved32,
            *self.reserved,
        )


@dataclass(frozen=True)
class Page:
    lines: tuple  # before, slew, after
    validity: Validity = Validity()
    seq: int = 2
    refresh_ticks: int = 1 << 62
    magic: int = MAGIC
    size: int = SIZE
    version: int = VERSION
    counter_id: int = 1
    counts: tuple = (0, 0, 0)
    incompatible: int = 0
    reserved32: int = 0
    vmclock_marker: int = 0
    reserved: tuple = (0,) * 7
    other_copy: bytes = field(default=bytes(256))  # the one that seq does not name

    def pack(self, endian):
        order = "<" if endian == "little" else ">"
        head = struct.pack(
            order + "QQIIIIQQQIIQ7Q",
            self.seq,
            self.refresh_ticks,
            self.magic,
            self.size,
            self.version,
            self.counter_id,
            *self.counts,
            self.incompatible,
            self.reserved32,
            self.vmclock_marker,
            *self.reserved,
        )
        named = b"".join(part.pack(order) for part in (*self.lines, self.validity))
        copies = (self.other_copy, named) if self.seq & 1 else (named, self.other_copy)
        return head + b"".join(copies)

    def with_lines(self, **changes):
        """The same page with some fields of all three lines changed."""
        return replace(self, lines=tuple(replace(line, **changes) for line in self.lines))

    def with_line(self, name, **changes):
        """The same page with some fields of one line changed."""
        lines = (replace(l, **changes) if n == name else l for n, l in zip(NAMES, self.lines))
        return replace(self, lines=tuple(lines))

    def with_validity(self, **changes):
        return replace(self, validity=replace(self.validity, **changes))


def line_name(page, ticks):
    _, slew, after = page.lines
    if signed(ticks - after.start_ticks) >= 0:
        return "after"
    return "slew" if signed(ticks - slew.start_ticks) >= 0 else "before"


def is_current(page, ticks):
    """Would a reader who has just read this tick take a line without asking further?"""
    before, _, after = page.lines
    d = signed(ticks - after.start_ticks)
    return d <= page.refresh_ticks and (d >= 0 or signed(ticks - before.start_ticks) >= 0)


def flags_at(page, ticks, flags):
    """The line's flags, the status put down where nobody has renewed the page in time."""
    since = signed(ticks - page.lines[2].start_ticks)
    status = flags & STATUS_MASK
    if since >= page.validity.void_ticks:
        return flags - status
    if since >= page.validity.silent_ticks and status in (INITIALIZING, SYNCHRONIZED):
        return flags - status + FREERUNNING
    return flags


def convert(page, ticks):
    """All that a tick says, as a vector's entry has it."""
    name = line_name(page, ticks)
    number = NAMES.index(name)
    line = page.lines[number]
    d = signed(ticks - line.start_ticks)  # negative only on `before`
    mono = signed(line.mono_ns + (d * line.period >> 64))  # >> rounds down
    utc = signed(line.utc_ns + (d * line.period >> 64))
    tai = signed(utc + (signed(line.flags >> TAI_SHIFT << 48) >> 48) * 10**9)
    drift = abs(d) * line.drift_rate >> 32
    slew = abs(d) * line.slew_rate >> 32
    esterror = page.validity.esterror_ns[number] + (abs(d) * page.validity.esterror_rate >> 32)
    return {
        "ticks": str(ticks & U64),
        "mono_ns": str(mono),
        "utc_ns": str(utc),
        "tai_ns": str(tai),
        "maxerror_ns": str((line.maxerror_ns + drift + slew) & U64),
        "utc_maxerror_ns": str((line.maxerror_ns + drift + line.utc_maxerror_ns) & U64),
        "esterror_ns": str(esterror & U64),
        "flags": flags_at(page, ticks, line.flags),
        "line": name,
        "backwards": d < 0,
        "is_current": is_current(page, ticks),
    }


def reach_ticks(page):
    """How far either side of after.start_ticks the inverse looks."""
    return 1 << (62 - (page.lines[2].period >> 64).bit_length())


def spans(page):
    """(line, first, last) distances from after.start_ticks, in the order of time."""
    before, slew, after = page.lines
    reach = reach_ticks(page)
    slew_at = signed(slew.start_ticks - after.start_ticks)
    return [(before, -reach, slew_at - 1), (slew, slew_at, -1), (after, 0, reach - 1)]


def first_tick(page, target_ns, is_utc):
    """The first tick in reach that shows target_ns or later; else the last tick in reach."""
    origin = page.lines[2].start_ticks
    for line, first, last in spans(page):
        start = signed(line.utc_ns) if is_utc else line.mono_ns
        # floor(d * period) >= need  <=>  d >= need / period, rounded up
        d = -(-((target_ns - start) << 64) // line.period)
        at = max(first, signed(line.start_ticks - origin) + d)
        if at <= last:
            return (origin + at) & U64
    return (origin + spans(page)[2][2]) & U64


def is_good_line(line):
    return (
        0 < line.period < (PERIOD_MAX_NS + 1) << 64
        and line.flags & STATUS_MASK <= STATUS_MAX
        and signed(line.mono_ns) >= 0
        and all(n & U64 <= ERROR_MAX_NS for n in (line.maxerror_ns, line.utc_maxerror_ns))
    )


def is_good_validity(validity, refresh_ticks):
    return refresh_ticks < validity.silent_ticks <= validity.void_ticks <= NEVER and all(
        n <= ERROR_MAX_NS for n in validity.esterror_ns
    )


def validate(page):
    """0, or the name of the error that a reader reports."""
    before, slew, after = page.lines
    if (page.magic, page.size, page.version) != (MAGIC, SIZE, VERSION):
        return "TIMEBASE_E_FORMAT"
    if page.incompatible & ~UNDERSTOOD:
        return "TIMEBASE_E_UNSUPPORTED"
    if page.seq == 0:
        return "TIMEBASE_E_STALE"
    is_good = (
        is_good_validity(page.validity, page.refresh_ticks)
        and all(is_good_line(line) for line in page.lines)
        and signed(slew.start_ticks - before.start_ticks) >= 0
        and signed(after.start_ticks - slew.start_ticks) >= 0
    )
    return 0 if is_good else "TIMEBASE_E_FORMAT"
