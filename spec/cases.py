# SPDX-License-Identifier: MIT
"""The pages of the test vectors, a function per file; each yields Case after Case."""

import random
import struct
from dataclasses import dataclass, replace

import model
from model import Line, Page, Validity

SEC_NS = 10**9
YEAR_SEC = 31557600  # 365.25 days
UTC_OFFSET_NS = 1_767_225_600 * SEC_NS + 123_456_789  # a machine started early in 2026
TAI_37 = 37 << model.TAI_SHIFT | model.TAI_VALID
SYNCHRONIZED = 2


@dataclass
class Case:
    name: str
    page: Page
    ticks: tuple = ()  # besides the usual ones
    targets: tuple = None  # ("mono_ns" or "utc_ns", value) for the inverse; None: the usual ones
    wrong_order: bool = False  # store the page in the other byte order than the vector says
    version_1: bool = False  # store it as version 1 had it


def period_of(hz):
    """The length of a tick as a writer has it: rounded down to 2^-64 ns."""
    return (SEC_NS << 64) // hz


def line_at(start, value, period, utc_offset_ns, flags, maxerror_ns=250):
    """A line whose start is known exactly (64 binary places), as it is published."""
    mono_ns = value >> 64
    return Line(
        start_ticks=start & model.U64,
        mono_ns=mono_ns,
        utc_ns=mono_ns + utc_offset_ns & model.U64,
        period=period,
        flags=flags,
        maxerror_ns=maxerror_ns,
        drift_rate=min((period * 50 // 10**6 >> 32) + 1, model.U32),
        slew_rate=min((period * 500 // 10**6 >> 32) + 1, model.U32),
        utc_maxerror_ns=1_500_000,
    )


def validity_of(period, refresh_ticks):
    """What a writer puts down: 5 and 1,000 s after the renewal became due."""
    sec_ticks = (SEC_NS << 64) // period
    return Validity(
        silent_ticks=refresh_ticks + 5 * sec_ticks,
        void_ticks=refresh_ticks + 1000 * sec_ticks,
        esterror_ns=(60, 35, 15),
        esterror_rate=min((period // 10**7 >> 32) + 1, model.U32),
    )


def expiry_ticks(page):
    """The first silent tick, the first void one, the first that is long ago, and those before."""
    start, validity = page.lines[2].start_ticks, page.validity
    ends = (start + validity.silent_ticks, start + validity.void_ticks, start + (1 << 63))
    return tuple(tick for end in ends for tick in (end - 1, end))


def page_of(
    period,
    start=123_456_789_012_345,
    mono_ns=86_400 * SEC_NS,
    slew_ppm=20,
    before_ppm=-7,
    utc_offset_ns=UTC_OFFSET_NS,
    utc_step_ns=0,
    flags=TAI_37 | SYNCHRONIZED,
    **fields,
):
    """Lines as a writer makes them: 100 ms of before, 30 ms of slew, after; without a gap."""
    tenth = (SEC_NS // 10 << 64) // period
    slew_start, after_start = start + tenth, start + tenth + tenth * 3 // 10
    slew_period = period + period * slew_ppm // 10**6
    before_period = period + period * before_ppm // 10**6
    value = (mono_ns << 64) + 0x9E3779B97F4A7C15  # not a whole nanosecond
    slew_value = value + (slew_start - start) * before_period
    after_value = slew_value + (after_start - slew_start) * slew_period
    new_offset = utc_offset_ns + utc_step_ns
    lines = (
        line_at(start, value, before_period, utc_offset_ns, flags, 250 + abs(utc_step_ns)),
        line_at(slew_start, slew_value, slew_period, new_offset, flags),
        line_at(after_start, after_value, period, new_offset, flags),
    )
    refresh_ticks = tenth * 6 // 10
    validity = validity_of(period, refresh_ticks)
    return Page(lines=lines, validity=validity, refresh_ticks=refresh_ticks, **fields)


def frequencies():
    """Counters from 1 MHz to 5 GHz."""
    named = {
        "1 MHz": 10**6,
        "3.579545 MHz": 3_579_545,
        "24 MHz Arm": 24 * 10**6,
        "62.5 MHz Arm": 62_500_000,
        "512 MHz Power": 512 * 10**6,
        "1 GHz": 10**9,
        "just below 1 GHz": 999_999_937,
        "2.6 GHz": 2_600_000_000,
        "odd 2.6 GHz": 2_599_998_123,
        "4.096 GHz s390x": 4_096_000_000,
        "5 GHz": 5 * 10**9,
    }
    for name, hz in named.items():
        start = hz * 1000 + 17
        page = page_of(period_of(hz), start=start)
        yield Case(name, page, ticks=(start + 3600 * hz, *expiry_ticks(page)))


def latch(seed=1):
    """The published copy is the one that the lower bit of seq names; the other is garbage."""
    numbers = random.Random(seed)
    for seq in (1, 2, 0xFFFFFFFF, model.U64 - 1):
        page = page_of(period_of(2_600_000_000), seq=seq, other_copy=numbers.randbytes(256))
        yield Case(f"seq {seq:#x}", page)


def slew():
    """The steepest slews, and lines of no length."""
    for ppm in (500, -500):
        page = page_of(period_of(2_600_000_000), slew_ppm=ppm, before_ppm=-ppm)
        yield Case(f"{ppm:+} ppm", page)
        yield Case(f"{ppm:+} ppm, 1 MHz", page_of(period_of(10**6), slew_ppm=ppm))
    only = page_of(period_of(512 * 10**6)).lines[2]
    yield Case("first publication: three times the same line", Page(lines=(only,) * 3))
    page = page_of(period_of(62_500_000))
    yield Case("no refresh time left", replace(page, refresh_ticks=0))


def utc_step():
    """A step of UTC comes with the slew line; leap seconds, TAI before, at and after UTC."""
    period = period_of(2_600_000_000)
    yield Case("forwards by an hour", page_of(period, utc_step_ns=3600 * SEC_NS))
    back = page_of(period, utc_step_ns=-SEC_NS)
    times = [model.signed(line.utc_ns) for line in back.lines]
    # What lies between was shown twice: which of the two is returned is not specified.
    targets = (("utc_ns", times[1] - 1), ("utc_ns", times[1] + 2 * SEC_NS))
    yield Case("backwards by a second", back, targets=targets)
    yield Case("forwards by 1 ns", page_of(period, utc_step_ns=1))
    yield Case("UTC before 1970", page_of(period, utc_offset_ns=-40 * YEAR_SEC * SEC_NS))
    for offset in (-10, -32768):
        flags = (offset & 0xFFFF) << model.TAI_SHIFT | model.TAI_VALID | SYNCHRONIZED
        yield Case(f"TAI - UTC = {offset} s", page_of(period, flags=flags))
    leaps = {"leap second to come": model.LEAP_INSERT, "leap second to go": model.LEAP_DELETE}
    for name, leap in leaps.items():
        yield Case(name, page_of(period, flags=TAI_37 | leap | SYNCHRONIZED))


def wrap():
    """The counter passes 2^64 within a line, and at its very start."""
    hz = 2_600_000_000
    tenth = hz // 10
    places = {
        "within before": -tenth // 2,
        "at the start of slew": -tenth,
        "within slew": -tenth - tenth // 10,
        "at the start of after": -tenth - tenth * 3 // 10,
        "within after": -tenth * 3 // 2,
        "2^63 within after": (1 << 63) - tenth * 3 // 2,
    }
    for name, start in places.items():
        yield Case(name, page_of(period_of(hz), start=start), ticks=(0, 1, model.U64, 1 << 63))


def century():
    """A hundred years forwards and backwards, where 2^63 ticks reach that far."""
    for hz in (10**6, 62_500_000, 10**9, 2_600_000_000, 5 * 10**9):
        page = page_of(period_of(hz), start=hz * 10)
        years = min(100, ((1 << 63) - hz) // (hz * YEAR_SEC))
        distance = years * YEAR_SEC * hz
        after, before = page.lines[2].start_ticks, page.lines[0].start_ticks
        ticks = (after + distance, before - distance, after + YEAR_SEC * hz, before - YEAR_SEC * hz)
        yield Case(f"{hz} Hz, {years} years", page, ticks=ticks + ((1 << 63) - 1 + after,))


def limits():
    """The longest and shortest ticks there can be, the largest rates, times near their ends."""
    largest = (1 << 64) - 1
    flat = {"slew_ppm": 0, "before_ppm": 0}
    yield Case("largest period_frac, no whole ns", page_of(largest, **flat))
    yield Case("longest tick", page_of(1000 << 64 | largest, **flat))
    yield Case("1 ns and the smallest fraction", page_of(1 << 64 | 1, **flat))
    yield Case("1 ns before, less after", page_of((1 << 64) - (1 << 50), slew_ppm=500))
    page = page_of(period_of(2_600_000_000))
    rates = page.with_lines(drift_rate=model.U32, slew_rate=model.U32)
    yield Case("largest rates", rates.with_validity(esterror_rate=model.U32))
    nothing = {"drift_rate": 0, "slew_rate": 0, "maxerror_ns": 0, "utc_maxerror_ns": 0}
    growing = page.with_lines(**nothing)
    yield Case("no growth", growing.with_validity(esterror_ns=(0, 0, 0), esterror_rate=0))
    most = (1 << 63) - 1
    wide = model.ERROR_MAX_NS
    errors = page.with_lines(maxerror_ns=wide, utc_maxerror_ns=wide)
    yield Case("largest errors", errors.with_validity(esterror_ns=(wide, wide, wide)))
    yield Case("at boot", page_of(period_of(24 * 10**6), start=0, mono_ns=0))
    yield Case("refresh as long as can be", replace(page, refresh_ticks=most, validity=Validity()))
    ends = tuple((kind, ns) for kind in ("mono_ns", "utc_ns") for ns in (-most - 1, most))
    yield Case("inverse out of reach", page, targets=ends)
    yield Case("1 ns, no fraction, inverse out of reach", page_of(1 << 64, **flat), targets=ends)


def statuses():
    """Every status, with and without TAI; bits that are not defined pass through."""
    page = page_of(period_of(10**9))
    for flags in ((0, 1, 2), (TAI_37 | 4, TAI_37 | 3, 4)):
        mixed = page
        for name, value in zip(model.NAMES, flags):
            mixed = mixed.with_line(name, flags=value)
        yield Case("flags " + ", ".join(map(hex, flags)), mixed)
    yield Case("undefined flags", page.with_lines(flags=0xFF80 | SYNCHRONIZED))


def expiry():
    """A page that nobody renews: FREERUNNING from its silent tick on, UNKNOWN from its void one."""
    flags = {
        "SYNCHRONIZED": TAI_37 | model.ESTIMATE | SYNCHRONIZED,
        "INITIALIZING": model.NEVER_MOVED | 1,
        "FREERUNNING": 3,
        "UNRELIABLE": model.COUNTER_DISTRUSTED | 4,
        "UNKNOWN": 0,
    }
    for name, value in flags.items():
        page = page_of(period_of(2_600_000_000), flags=value)
        yield Case(name, page, ticks=expiry_ticks(page))
    some = page_of(period_of(62_500_000))
    soon = {"silent_ticks": some.refresh_ticks + 1, "void_ticks": some.refresh_ticks + 1}
    late = {"silent_ticks": (1 << 63) - 2, "void_ticks": (1 << 63) - 1}
    pages = {
        "right after the refresh, void at once": some.with_validity(**soon),
        "never": replace(some, validity=Validity()),
        "at the last ticks there are": some.with_validity(**late),
        "void never": some.with_validity(void_ticks=model.NEVER),
        # Of a word in two halves both count.
        "lower half below the refresh's": replace(
            some.with_validity(silent_ticks=2 << 32, void_ticks=3 << 32),
            refresh_ticks=(1 << 32) + 5,
        ),
        "over the wrap of the counter": page_of(period_of(10**9), start=model.U64 - 10**9),
        "of a counter of 1 MHz": page_of(period_of(10**6)),
    }
    for name, page in pages.items():
        yield Case(name, page, ticks=expiry_ticks(page))


def esterror():
    """The estimated error: one for each line, and one rate for all."""
    page = page_of(period_of(2_600_000_000))
    day = page.lines[2].start_ticks + 86_400 * 2_600_000_000
    pages = {
        "three lines, three errors": page.with_validity(esterror_ns=(1000, 100, 10)),
        "of the last line alone": page.with_validity(esterror_ns=(0, 0, 7), esterror_rate=0),
        "greater than maxerror": page.with_validity(esterror_ns=(10**6, 10**6, 10**6)),
        "1 ns a tick": page.with_validity(esterror_rate=model.U32),
    }
    for name, some in pages.items():
        yield Case(name, some, ticks=(day, some.lines[0].start_ticks - 86_400 * 2_600_000_000))


def chance(seed=2):
    """Pages and ticks by lot."""
    numbers = random.Random(seed)
    for number in range(6):
        period = period_of(10**6 + numbers.getrandbits(numbers.randint(8, 32)))
        page = page_of(
            period,
            start=numbers.getrandbits(64),
            mono_ns=numbers.randrange(YEAR_SEC * SEC_NS),
            slew_ppm=numbers.randint(-500, 500),
            before_ppm=numbers.randint(-500, 500),
            utc_step_ns=numbers.randint(0, SEC_NS),
            seq=numbers.getrandbits(64) | 1 << 40,
            counts=tuple(numbers.getrandbits(64) for _ in range(3)),
            other_copy=numbers.randbytes(256),
        )
        start = page.lines[2].start_ticks
        ticks = tuple(start + numbers.randint(-(1 << bits), 1 << bits) for bits in (24, 32, 48))
        ticks += expiry_ticks(page)
        yield Case(f"page {number}", page, ticks=ticks)


def products():
    """Far ticks at which two products of halves carry into the upper word, and it matters: the
    article of 2007 lost that carry."""
    pairs = (
        (0x3C4E0775FFFFFFFF, 0xF000002843EBEEDC),
        (0x730011F2FFFFFFFF, 0x9A8D5287E1D4D95C),
        (0x40000001FFFFFFFF, 0xC4EC4EC4EC4EC4EC),
        (0x3FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF),
    )
    for distance, fraction in pairs:
        page = page_of(fraction, slew_ppm=0, before_ppm=0)
        before, _, after = (line.start_ticks for line in page.lines)
        ticks = (after + distance, before - distance)
        yield Case(f"{distance:#x} ticks of {fraction:#x} / 2^64 ns", page, ticks=ticks)


def accepted():
    """Unusual, and yet to be accepted."""
    page = page_of(period_of(2_600_000_000))
    ends = {
        "reserved32": model.U32,
        "vmclock_marker": model.U64,
        "reserved": (model.U64,) * 7,
        "counts": (model.U64,) * 3,
    }
    ones = page.with_validity(reserved32=model.U32, reserved=(model.U64,) * 2)
    yield Case("counts and reserved words all ones", replace(ones, **ends))
    yield Case("unknown counter", replace(page, counter_id=0xFF))
    yield Case("the other copy all ones", replace(page, other_copy=b"\xff" * 256))


def version_1(page, endian):
    """The 512 bytes in which version 1 would have said the same: no validity, UTC as an offset."""
    order = "<" if endian == "little" else ">"
    head = (page.seq, page.refresh_ticks, page.magic, 512, 1, page.counter_id, *page.counts)
    lines = [replace(line, utc_ns=line.utc_ns - line.mono_ns) for line in page.lines]
    copy = b"".join(line.pack(order) for line in lines)
    return struct.pack(order + "QQIIIIQQQ72x", *head) + copy + copy


def hostile():
    """What a reader refuses; nothing is converted."""
    page = page_of(period_of(2_600_000_000))
    yield Case("magic", replace(page, magic=model.MAGIC ^ 1))
    yield Case("magic 0", replace(page, magic=0))
    yield Case("the other byte order", page, wrong_order=True)
    yield Case("size 512", replace(page, size=512))
    yield Case("size 639", replace(page, size=639))
    yield Case("size 4096", replace(page, size=4096))
    yield Case("version 0", replace(page, version=0))
    yield Case("version 1, as this one", replace(page, version=1))
    yield Case("a page of version 1, 512 bytes", page, version_1=True)
    yield Case("version 3", replace(page, version=3))
    yield Case("seq 0", replace(page, seq=0))
    yield Case("seq 0 and version 3", replace(page, seq=0, version=3))
    by_cpu = replace(page, incompatible=model.CORRECTED_BY_CPU)
    yield Case("ticks corrected by CPU", by_cpu)
    yield Case("ticks corrected by CPU, seq 0", replace(by_cpu, seq=0))
    yield Case("ticks corrected by CPU, version 3", replace(by_cpu, version=3))
    for bit in (1, 31):
        yield Case(f"unknown feature, bit {bit}", replace(page, incompatible=1 << bit))
    silent = page.validity.silent_ticks
    yield Case("refresh at the silent tick", replace(page, refresh_ticks=silent))
    yield Case("refresh beyond the silent tick", replace(page, refresh_ticks=silent + 1))
    yield Case("void before silent", page.with_validity(void_ticks=silent - 1))
    yield Case("void 2^63 + 1", page.with_validity(void_ticks=model.NEVER + 1))
    yield Case("silent and void 0", page.with_validity(silent_ticks=0, void_ticks=0))
    never = Validity()
    yield Case("refresh 2^63", replace(page, refresh_ticks=1 << 63, validity=never))
    yield Case("refresh 2^64 - 1", replace(page, refresh_ticks=model.U64))
    before, slew, _ = page.lines
    yield Case("slew before before", page.with_line("slew", start_ticks=before.start_ticks - 1))
    yield Case("after before slew", page.with_line("after", start_ticks=slew.start_ticks - 1))
    half = before.start_ticks + (1 << 63)
    yield Case("half the counter apart", page.with_line("slew", start_ticks=half))
    for name in model.NAMES:
        yield Case(f"{name}: period 0", page.with_line(name, period=0))
        yield Case(f"{name}: period 1001 ns", page.with_line(name, period=1001 << 64))
        yield Case(f"{name}: status 5", page.with_line(name, flags=TAI_37 | 5))
        yield Case(f"{name}: time negative", page.with_line(name, mono_ns=-1))
        too_wide = model.ERROR_MAX_NS + 1
        yield Case(f"{name}: maxerror 2^62 + 1", page.with_line(name, maxerror_ns=too_wide))
        yield Case(f"{name}: utc_maxerror 2^62 + 1", page.with_line(name, utc_maxerror_ns=too_wide))
        wide = tuple(too_wide if n == name else 0 for n in model.NAMES)
        yield Case(f"{name}: esterror 2^62 + 1", page.with_validity(esterror_ns=wide))
    yield Case("status 15", page.with_lines(flags=15))
    yield Case("longest period there is", page.with_lines(period=(1 << 96) - 1))
    empty = Page(lines=(Line(period=0),) * 3, magic=0, size=0, version=0, refresh_ticks=0)
    yield Case("only seq set", empty)


FILES = {
    "accepted": accepted,
    "century": century,
    "chance": chance,
    "esterror": esterror,
    "expiry": expiry,
    "frequencies": frequencies,
    "hostile": hostile,
    "latch": latch,
    "limits": limits,
    "products": products,
    "slew": slew,
    "statuses": statuses,
    "utc-step": utc_step,
    "wrap": wrap,
}
