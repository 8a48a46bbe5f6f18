# SPDX-License-Identifier: MIT
"""The arithmetic of conversion, proved for all 64-bit inputs from the C source itself.

symbolic.py turns the functions into terms; z3 is asked for inputs that contradict a claim, and there
are none. The same proofs must fail when the source is spoilt: the last test spoils it.

How a product of two symbols is handled: z3 cannot compare multipliers of 64 bits, and need not.
The four 32-bit products of the portable multiply become symbols, of which only the range is known;
that they add up to the whole product is an identity of polynomials. Each proof is then linear.
"""

import re
from functools import cache

import pytest

z3 = pytest.importorskip("z3", reason="needs z3-solver, as `make venv` installs it")
pytest.importorskip("pycparser", reason="needs pycparser, as `make venv` installs it")

from symbolic import Integers, Machine, Value, Words, parse, preprocessed, proves

WORD = 1 << 64
PORTABLE = "-DTIMEBASE_PORTABLE_MULTIPLY"


@cache
def source(header, *defines):
    return preprocessed(header, *defines)


def all_proved(domain, facts=()):
    return all(proves([*domain.facts, *facts], claim) for claim in domain.obligations)


# ---- the product


def multiplied(text):
    """(machine, low, high) of the C function for two symbols a and b."""
    machine = Machine(parse(text, "timebase_multiply"), Words())
    a, b = (machine.domain.symbol(name, 64) for name in "ab")
    # What `low` points at: a variable of the caller.
    caller = {"low": Value(z3.BitVecVal(0, 64), 64), "types": {"low": 64}}
    node = parse("uint64_t f(uint64_t low) { return low; }", "f")["f"].body.block_items[0].expr
    high = machine.call("timebase_multiply", a, b, (node, caller))
    return machine.domain, caller["low"].term, high.term


def as_integers(domain):
    """The operands of the products as polynomials of the halves of a and b: their names."""
    halves = {z3.simplify(z3.LShR(z3.BitVec(n, 64), 32)).sexpr(): f"{n}_high" for n in "ab"}
    for n in "ab":
        low = z3.ZeroExt(32, z3.Extract(31, 0, z3.BitVec(n, 64)))
        halves[z3.simplify(low).sexpr()] = f"{n}_low"
    return [(halves.get(z3.simplify(x).sexpr()), halves.get(z3.simplify(y).sexpr()), product)
            for x, y, product in domain.products]  # fmt: skip


def portable_is_exact(text):
    domain, low, high = multiplied(text)
    weights = {"high": 32, "low": 0}
    total = z3.BitVecVal(0, 130)
    seen = set()
    for x, y, product in as_integers(domain):
        if x is None or y is None:
            return False
        seen.add((x, y))
        shift = weights[x.split("_")[1]] + weights[y.split("_")[1]]
        total = total + (z3.ZeroExt(66, product) << shift)
    every = {(f"a_{i}", f"b_{j}") for i in weights for j in weights}
    if seen != every or not all_proved(domain):
        return False
    result = z3.ZeroExt(2, z3.Concat(high, low))
    return proves(domain.facts, result == total)


def test_portable_product_of_64_bits_is_exact():
    assert portable_is_exact(source("include/timebase/arithmetic.h", PORTABLE))


def test_four_products_of_halves_make_the_whole():
    ah, al, bh, bl = z3.Ints("ah al bh bl")
    half = 1 << 32
    parts = ah * bh * half * half + (ah * bl + al * bh) * half + al * bl
    assert proves([], (ah * half + al) * (bh * half + bl) == parts)


def test_product_of_halves_is_in_its_range():
    x, y = z3.Ints("x y")
    most = (1 << 32) - 1
    assert proves([x >= 0, x <= most, y >= 0, y <= most], x * y <= most * most)
    assert proves([x >= 0, x <= most, y >= 0, y <= most], x * y >= 0)


def test_native_product_is_its_two_words():
    domain, low, high = multiplied(source("include/timebase/arithmetic.h"))
    ((x, y, product),) = domain.products
    assert all_proved(domain)  # neither operand has more than 64 bits: 128 hold the product
    assert z3.simplify(x).eq(z3.simplify(z3.ZeroExt(64, z3.BitVec("a", 64))))
    assert z3.simplify(y).eq(z3.simplify(z3.ZeroExt(64, z3.BitVec("b", 64))))
    assert proves(domain.facts, z3.Concat(high, low) == product)


# ---- what is made of it: integers, with the product by its contract, which is proved above


def converting(text, *names, header_constants=None):
    machine = Machine(parse(text, *names), Integers(), header_constants or {})
    domain, count = machine.domain, iter(range(100))

    def multiply(a, b, place):
        high, low = (domain.symbol(f"{n}{next(count)}", 64) for n in ("high", "low"))
        domain.facts.append(a.term * b.term == high.term * WORD + low.term)
        machine.store(*place, low)
        return high

    machine.contracts = {
        "timebase_multiply": multiply,
        # How words are loaded is the protocol's affair (tests/interleave).
        "timebase_page_word": machine.load,
        "timebase_page_half": machine.load,
        "__builtin_expect": lambda value, expected: value,
    }
    return machine


CONVERSION = (
    "timebase_multiply_high",
    "timebase_growth",
    "timebase_line_elapsed",
    "timebase_line_convert",
)


def wants(text):
    """enum timebase_want, out of the header."""
    return {name: int(value) for name, value in re.findall(r"(TIMEBASE_WANT_\w+) = (\d+)", text)}


LINE_FIELDS = {
    "mono_ns": 64,
    "utc_ns": 64,
    "period_frac": 64,
    "period_ns": 32,
    "flags": 32,
    "maxerror_ns": 64,
    "drift_rate": 32,
    "slew_rate": 32,
    "utc_maxerror_ns": 64,
}


class Line:
    """A line of symbols and what the C code makes of d ticks of it."""

    def __init__(self, text, want):
        self.machine = converting(text, *CONVERSION, header_constants=wants(text))
        self.domain = self.machine.domain
        self.fields = {name: self.domain.symbol(name, bits) for name, bits in LINE_FIELDS.items()}
        self.want = Value(sum(wants(text)[f"TIMEBASE_WANT_{name}"] for name in want), 32)

    def __getitem__(self, name):
        return self.fields[name].term

    def at(self, d):
        out = {}
        self.machine.call("timebase_line_convert", self.fields, d, self.want, out)
        return {name: value.term for name, value in out.items()}

    def in_range(self, *ticks):
        """page.h: the inverse reaches 2^62 ns; the clock stands below 2^62 ns, some 146 years."""
        reach = 1 << 62
        return [self["mono_ns"] < reach, *(d * (self["period_ns"] + 1) <= reach for d in ticks),
                *(d * self["period_ns"] + d == d * (self["period_ns"] + 1) for d in ticks)]  # fmt: skip


def product_lemmas(d, frac):
    """Facts about a product of two words that z3's arithmetic is not left to find."""
    return [d * frac >= 0, d * frac <= d * (WORD - 1), d * frac < d * WORD + 1]


def conversion_is_the_floor(text):
    line = Line(text, ["MONO"])
    d = line.domain.symbol("d", 64)
    mono = line.at(d)["mono_ns"]
    facts = [*line.in_range(d.term), *product_lemmas(d.term, line["period_frac"])]
    # 2^64 times the exact time: mono_ns + d * (period_ns + period_frac / 2^64)
    exact = (line["mono_ns"] + d.term * line["period_ns"]) * WORD + d.term * line["period_frac"]
    claims = [mono * WORD <= exact, exact < (mono + 1) * WORD, mono < WORD // 2]
    known = [*line.domain.facts, *facts]
    return all_proved(line.domain, facts) and all(proves(known, claim) for claim in claims)


def test_conversion_is_the_exact_time_rounded_down_and_nothing_overflows():
    assert conversion_is_the_floor(source("include/timebase/page.h"))
    assert conversion_is_the_floor(source("include/timebase/page.h", PORTABLE))


def test_true_period_is_missed_by_less_than_a_part_in_2_to_the_64_a_tick():
    """The published period is the true one rounded down; what that costs is d / 2^64."""
    d, period, truth = z3.Int("d"), z3.Real("period"), z3.Real("truth")
    loss = z3.ToReal(d) * truth - z3.ToReal(d) * period
    miss = z3.Real("miss")
    known = [d >= 0, miss >= 0, miss < 1, truth == period + miss / WORD]
    assert proves([*known], loss == z3.ToReal(d) * miss / WORD)
    # and d * miss < d, or both are 0
    x = z3.Real("x")
    assert proves([x >= 0, miss >= 0, miss < 1], z3.Or(x * miss < x, x == 0))


def test_a_century_of_ticks_is_missed_by_less_than_2_ns():
    """Up to 5 GHz: the floor of the conversion, and the true period rounded down to 2^-64 ns."""
    ticks = 5_000_000_000 * 3_155_760_000
    assert ticks < WORD  # so that `d` holds them
    miss = z3.Real("miss")
    assert proves([miss >= 0, miss < 1], 1 + ticks * miss / WORD < 2)


def monotonic(text):
    line = Line(text, ["MONO"])
    earlier, more = line.domain.symbol("earlier", 64), line.domain.symbol("more", 64)
    later = Value(earlier.term + more.term, 64)
    facts = [*line.in_range(earlier.term, later.term), later.term < WORD,
             *product_lemmas(earlier.term, line["period_frac"]),
             *product_lemmas(more.term, line["period_frac"]), more.term * line["period_ns"] >= 0]  # fmt: skip
    first, second = line.at(earlier)["mono_ns"], line.at(later)["mono_ns"]
    return proves([*line.domain.facts, *facts], first <= second)


def test_a_later_tick_is_never_an_earlier_time():
    assert monotonic(source("include/timebase/page.h"))


def utc_runs_beside_monotonic_time(text):
    line = Line(text, ["MONO", "UTC"])
    d = line.domain.symbol("d", 64)
    facts = [line["utc_ns"] < 1 << 62, *line.in_range(d.term),
             *product_lemmas(d.term, line["period_frac"])]  # fmt: skip
    out = line.at(d)
    apart = out["utc_ns"] - out["mono_ns"] == line["utc_ns"] - line["mono_ns"]
    return all_proved(line.domain, facts) and proves([*line.domain.facts, *facts], apart)


def test_utc_keeps_its_distance_from_monotonic_time():
    assert utc_runs_beside_monotonic_time(source("include/timebase/page.h"))


def growth_is_rounded_once(text):
    machine = converting(text, *CONVERSION[:2])
    domain = machine.domain
    d, rate = domain.symbol("d", 64), domain.symbol("rate", 32)
    growth = machine.call("timebase_growth", d, rate).term
    exact = d.term * rate.term  # 2^-32 ns
    half = 1 << 32
    return all_proved(domain) and proves(
        domain.facts, z3.And(growth * half <= exact, exact < (growth + 1) * half))  # fmt: skip


def test_growth_loses_less_than_a_nanosecond():
    assert growth_is_rounded_once(source("include/timebase/page.h"))


def test_two_growths_lose_less_than_the_allowance_for_rounding():
    text = source("src/clock/discipline/assumptions.h", "-dD")
    allowance = int(re.search(r"ASSUME_ROUNDING_NS (\d+)", text).group(1))
    x, y = z3.Reals("x y")
    floors = [z3.ToReal(z3.ToInt(one)) for one in (x, y)]
    assert proves([x >= 0, y >= 0], x + y - floors[0] - floors[1] < 2)
    # mono_ns of the line and of the reading are rounded down too: together below the allowance
    assert 2 + 1 + 1 <= allowance


def bounds_are_what_the_specification_says(text):
    """maxerror = maxerror_ns + d drift + d slew; of UTC: + d drift + its claim; to the ns."""
    line = Line(text, ["MAXERROR", "UTC_MAXERROR"])
    d = line.domain.symbol("d", 64)
    line.domain.facts += [line[name] < 1 << 62 for name in ("maxerror_ns", "utc_maxerror_ns")]
    facts = [d.term < 1 << 61, *line.in_range(d.term)]
    facts += product_lemmas(d.term, line["period_frac"])
    for name in ("drift_rate", "slew_rate"):
        facts += [d.term * line[name] >= 0, d.term * line[name] <= d.term * ((1 << 32) - 1)]
    out = line.at(d)
    half = 1 << 32
    drift, slew = d.term * line["drift_rate"], d.term * line["slew_rate"]
    lost = (line["maxerror_ns"] * half + drift + slew) - out["maxerror_ns"] * half
    of_utc = line["maxerror_ns"] + line["utc_maxerror_ns"]
    lost_of_utc = of_utc * half + drift - out["utc_maxerror_ns"] * half
    known = [*line.domain.facts, *facts]
    return (
        all_proved(line.domain, facts)
        and proves(known, z3.And(lost >= 0, lost < 2 * half))
        and proves(known, z3.And(lost_of_utc >= 0, lost_of_utc < half))
    )


def test_bounds_hold_each_of_their_terms_and_never_wrap():
    assert bounds_are_what_the_specification_says(source("include/timebase/page.h"))


def test_what_is_taken_for_granted_can_be_so():
    """Facts that contradict each other would prove anything."""
    line = Line(source("include/timebase/page.h"), ["MONO", "MAXERROR", "UTC_MAXERROR"])
    d = line.domain.symbol("d", 64)
    line.at(d)
    facts = [*line.in_range(d.term), *product_lemmas(d.term, line["period_frac"])]
    values = {"period_frac": WORD // 3, "period_ns": 1, "mono_ns": 1 << 60, "drift_rate": 1 << 20,
              "slew_rate": 1 << 31}  # fmt: skip
    solver = z3.Solver()
    solver.add(*line.domain.facts, *facts, *line.domain.obligations, d.term == 1 << 50)
    solver.add(*(line[name] == value for name, value in values.items()))
    assert solver.check() == z3.sat


# ---- exact times of the writing side


def times_is_exact(text):
    machine = converting(text, "fixed_times")
    domain = machine.domain
    ns, frac, ticks = (domain.symbol(n, 64) for n in ("ns", "frac", "ticks"))
    facts = [ns.term < 1 << 63, ticks.term * (ns.term + 1) < 1 << 63,
             ticks.term * ns.term >= 0, ticks.term * ns.term + ticks.term == ticks.term * (ns.term + 1),
             *product_lemmas(ticks.term, frac.term)]  # fmt: skip
    product = machine.call("fixed_times", {"ns": ns, "frac": frac}, ticks)
    exact = (ns.term * WORD + frac.term) * ticks.term
    known = [*domain.facts, *facts]
    result = product["ns"].term * WORD + product["frac"].term
    return all_proved(domain, facts) and proves(known, result == exact)


def test_times_loses_nothing():
    assert times_is_exact(source("src/clock/line/fixed.h"))


def quotient_step_is_right(text):
    """One round of the division, from any state: 2 high + bit = digit divisor + high'."""
    function = parse(text, "fixed_quotient")["fixed_quotient"]
    loop = next(item for item in function.body.block_items if type(item).__name__ == "For")
    first, condition = loop.init.decls[0], loop.cond
    rounds = (first.init.value, condition.op, condition.right.value, loop.next.op)
    if rounds != ("0", "<", "64", "p++"):
        return False
    machine = Machine({}, Words())
    names = ("high", "low", "divisor", "quotient")
    before = {name: machine.domain.symbol(name, 64) for name in names}
    scope = {**before, "types": dict.fromkeys(names, 64)}
    machine.run(loop.stmt, scope)

    def wide(value):
        return z3.ZeroExt(2, value.term)

    bit = z3.ZeroExt(2, z3.LShR(before["low"].term, 63))
    digit = z3.ZeroExt(2, scope["quotient"].term & 1)
    high, divisor = before["high"].term, before["divisor"].term
    fits = z3.LShR(before["quotient"].term, 63) == 0
    known = [z3.ULT(high, divisor), fits]
    # digit is 0 or 1: digit * divisor without a product
    taken = z3.If(digit == 1, wide(before["divisor"]), z3.BitVecVal(0, 66))
    return all(
        proves(known, claim)
        for claim in (
            wide(before["high"]) * 2 + bit == taken + wide(scope["high"]),
            z3.ULT(scope["high"].term, divisor),
            scope["low"].term == before["low"].term << 1,
            wide(scope["quotient"]) == wide(before["quotient"]) * 2 + digit,
        )
    )


def test_each_round_of_the_division_keeps_its_invariant():
    assert quotient_step_is_right(source("src/clock/line/fixed.h"))


def test_64_rounds_that_keep_the_invariant_are_a_division():
    """quotient divisor 2p + high 2p + rest stays, where p halves; at the end the quotient is it."""
    names = "quotient divisor high next bit digit p rest whole"
    quotient, divisor, high, after, bit, digit, p, rest, whole = z3.Ints(names)
    known = [2 * high + bit == digit * divisor + after]
    left = (quotient * divisor + high) * 2 * p + bit * p + rest
    step = ((2 * quotient + digit) * divisor + after) * p + rest
    difference = p * (digit * divisor + after - 2 * high - bit)
    assert proves([], step - left == difference)  # and that is 0 by what is known
    assert proves(known, digit * divisor + after - 2 * high - bit == 0)
    end = [whole == quotient * divisor + high, high >= 0, high < divisor]
    other = z3.Int("other")
    assert proves([*end, other > quotient, other * divisor >= (quotient + 1) * divisor],
                  other * divisor > whole)  # fmt: skip
    assert proves([*end, divisor > 0], quotient * divisor <= whole)


# ---- the proofs are of the source: spoilt, it has none

PAGE, ARITHMETIC, FIXED = (
    "include/timebase/page.h",
    "include/timebase/arithmetic.h",
    "src/clock/line/fixed.h",
)
SPOILT = {
    "carry-of-a-middle-product-lost": (
        portable_is_exact, ARITHMETIC, "+ (uint32_t)one + (uint32_t)other", "+ (uint32_t)one"),
    "middle-product-taken-whole": (portable_is_exact, ARITHMETIC, "(uint32_t)one", "one"),
    "halves-exchanged": (portable_is_exact, ARITHMETIC, "a_high * b_low", "a_high * b_high"),
    "carry-into-the-upper-word-lost": (
        portable_is_exact, ARITHMETIC, "+ (middle >> 32)", "+ (middle >> 33)"),
    "lower-word-without-its-lowest": (
        portable_is_exact, ARITHMETIC, "(middle << 32) | (uint32_t)lowest", "(middle << 32)"),
    "period-fraction-forgotten": (
        conversion_is_the_floor, PAGE, "timebase_multiply_high(d, timebase_page_word(&line->period_frac))", "d"),
    "period-fraction-for-a-half": (
        conversion_is_the_floor, PAGE, "timebase_page_word(&line->period_frac))",
        "timebase_page_word(&line->period_frac) >> 1)"),
    "whole-nanoseconds-skipped": (conversion_is_the_floor, PAGE, "ns += d * period_ns;", "ns += d;"),
    "utc-without-its-ticks": (
        utc_runs_beside_monotonic_time, PAGE, "timebase_page_word(&line->utc_ns) + elapsed",
        "timebase_page_word(&line->utc_ns)"),
    "growth-by-another-power": (growth_is_rounded_once, PAGE, "(uint64_t)rate << 32", "(uint64_t)rate << 31"),
    "slew-in-the-bound-of-utc": (
        bounds_are_what_the_specification_says, PAGE, "error + timebase_page_word(&line->utc_maxerror_ns)",
        "error"),
    "drift-forgotten": (
        bounds_are_what_the_specification_says, PAGE,
        "timebase_growth(d, timebase_page_half(&line->drift_rate))", "0"),
    "product-without-its-whole-part": (times_is_exact, FIXED, "ticks + whole", "ticks"),
    "quotient-without-the-65th-bit": (quotient_step_is_right, FIXED, "carry || high >= divisor", "high >= divisor"),
    "quotient-beyond-instead-of-at": (quotient_step_is_right, FIXED, "high >= divisor", "high > divisor"),
    "quotient-of-63-bits": (quotient_step_is_right, FIXED, "bit < 64", "bit < 63"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_source_has_no_proof(name):
    proof, header, good, bad = SPOILT[name]
    defines = [PORTABLE] if proof is portable_is_exact else []
    text = source(header, *defines)
    assert text.count(good) == 1, f"{good!r} is not in {header} once: spoil something else"
    assert not proof(text.replace(good, bad))
