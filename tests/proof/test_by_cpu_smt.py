# SPDX-License-Identifier: MIT
"""Counters corrected by CPU do not go back: docs/proof-cpus.md, lemma by lemma.

What the C code does is proved of its source, for all words; what follows of time, of real numbers.
The same proofs must fail where the source or an assumption is spoilt.
"""

from functools import cache

import pytest

z3 = pytest.importorskip("z3", reason="needs z3-solver, as `make venv` installs it")
pytest.importorskip("pycparser", reason="needs pycparser, as `make venv` installs it")

from symbolic import Machine, Residues, Value, parse, preprocessed, proves

LINES, PLAN = "src/clock/counter/by_cpu.c", "src/sync/correction.c"
WORD = 1 << 64
REACH = 1 << 62  # ticks: a century at 1 GHz


@cache
def source(path):
    return preprocessed(path)


# ---- the machine: residues, and products of which only what a factor below 1 does is known


class Products:
    """timebase_multiply_high(d, factor): the floor of d * factor / 2^64, so of d times less than 1."""

    def __init__(self, domain):
        self.domain, self.known = domain, []

    def __call__(self, d, factor):
        term = z3.Int(f"high{len(self.known)}")
        valid = z3.And(d.term >= 0, d.term < WORD, factor.term >= 0, factor.term < WORD)
        self.domain.facts.append(z3.Implies(valid, z3.And(term >= 0, term <= d.term)))
        for other_d, other_factor, other, other_valid in self.known:
            if other_factor.eq(factor.term) and other_d.eq(d.term):
                return Value(other, 64)
            if other_factor.eq(factor.term):
                pair = grows(other_d, other, d.term, term), grows(d.term, term, other_d, other)
                self.domain.facts.append(z3.Implies(z3.And(valid, other_valid), z3.And(*pair)))
        self.known.append((d.term, factor.term, term, valid))
        return Value(term, 64)


def grows(low, product_of_low, high, product_of_high):
    more = product_of_high - product_of_low
    return z3.Implies(low <= high, z3.And(more >= 0, more <= high - low))


def test_of_two_such_products_the_larger_has_grown_by_no_more_than_its_factor():
    """What Products takes for granted. a = d factor and b = k factor, of more k."""
    a, b, d, k, low, high = z3.Ints("a b d k low high")
    known = [
        *(d >= 0, k >= 0, a >= 0, a <= d * (WORD - 1), b >= 0, b <= k * (WORD - 1)),
        *(low * WORD <= a, a < (low + 1) * WORD),
        *(high * WORD <= a + b, a + b < (high + 1) * WORD),
    ]
    assert proves(known, z3.And(low >= 0, low <= d))
    assert proves(known, z3.And(low <= high, high - low <= k))


class Code:
    """The functions that read by lines and make them, over symbols."""

    def __init__(self, lines, plan):
        names = ("by_cpu_line_ticks", "has_begun", "by_cpu_entry_line", "by_cpu_entry_ticks")
        names += ("has_ended",)
        functions = {**parse(lines, *names), **parse(plan, "go_on")}
        self.domain = Residues()
        self.rates = 0
        self.machine = Machine(functions, self.domain)
        self.machine.contracts = {
            "timebase_page_word": self.machine.load,
            "timebase_multiply_high": Products(self.domain),
            "fixed": self.any_rate,
        }

    def word(self, name):
        return self.domain.symbol(name, 64)

    def any_rate(self, _):
        """Below 1, either way: 2^-63 ticks per tick."""
        self.rates += 1
        rate = self.word(f"rate{self.rates}")
        self.domain.facts += [rate.term > -WORD // 2, rate.term < WORD // 2]
        return rate

    def line(self, name):
        words = {field: self.word(f"{name}_{field}") for field in ("start_ticks", "add_ticks")}
        return {**words, "rate": self.any_rate(None)}

    def at(self, line, raw):
        return self.machine.call("by_cpu_line_ticks", line, raw).term

    def shown(self, entry, raw):
        return self.machine.call("by_cpu_entry_ticks", entry, raw).term

    def go_on(self, line, raw):
        return self.machine.call("go_on", line, raw, None)

    def proves(self, facts, claim):
        known = [*self.domain.facts, *facts]
        return all(proves(known, one) for one in (*self.domain.obligations, claim))


def code(lines=None, plan=None):
    return Code(lines or source(LINES), plan or source(PLAN))


def in_order(*ticks):
    """Each no earlier than the one before, and all within reach of the first."""
    terms = [one.term for one in ticks]
    return [*(a <= b for a, b in zip(terms, terms[1:])), terms[-1] < terms[0] + REACH]


def never_back(earlier, later, passed):
    """What is shown grows, and by no more than twice what has passed: nothing has wrapped."""
    return z3.And(later >= earlier, later - earlier <= 2 * passed)


# ---- lemma 1: a line never goes back


def a_line_never_goes_back(lines):
    c = code(lines)
    line = c.line("line")
    earlier, later = (c.word(name) for name in ("earlier", "later"))
    shown = c.at(line, earlier), c.at(line, later)
    facts = in_order(line["start_ticks"], earlier, later)
    return c.proves(facts, never_back(*shown, later.term - earlier.term))


def test_a_line_never_goes_back():
    assert a_line_never_goes_back(source(LINES))


# ---- lemma 2: a line begins where the one before it is


def a_line_goes_on_where_the_one_before_is(plan):
    c = code(plan=plan)
    line, raw = c.line("line"), c.word("raw")
    there = c.at(line, raw)
    return c.proves([], c.at(c.go_on(line, raw), raw) == there)


def test_a_line_goes_on_where_the_one_before_is():
    assert a_line_goes_on_where_the_one_before_is(source(PLAN))


# ---- lemma 3: so a CPU with lines never goes back


def planned(c, before, slew_start, after_start):
    """As correction_plan() joins them."""
    slew = c.go_on(before, slew_start)
    after = c.go_on(slew, after_start)
    return {"before": before, "slew": slew, "after": after}


def an_entry_never_goes_back(lines, plan):
    c = code(lines, plan)
    before = c.line("before")
    start = before["start_ticks"]
    earlier, later = (c.word(name) for name in ("earlier", "later"))
    slew_start, after_start = (c.word(name) for name in ("slew_start", "after_start"))
    entry = planned(c, before, slew_start, after_start)
    shown = c.shown(entry, earlier), c.shown(entry, later)
    facts = in_order(start, slew_start, after_start) + in_order(start, earlier, later)
    return c.proves(facts, never_back(*shown, later.term - earlier.term))


def test_an_entry_never_goes_back():
    assert an_entry_never_goes_back(source(LINES), source(PLAN))


# ---- lemma 4: nor from one table to the next


def tables_agree_up_to_the_old_one_s_end(lines, plan, last):
    """`last` is in force at the old one's end, and has begun: no matter which table a reader has."""
    c = code(lines, plan)
    old = {name: c.line(name) for name in ("before", "slew", "after")}
    raw, end, after_start = (c.word(name) for name in ("raw", "end", "after_start"))
    new = planned(c, old[last], end, after_start)
    facts = [*in_order(old[last]["start_ticks"], raw, end, after_start), raw.term < end.term]
    facts += in_order(*(old[name]["start_ticks"] for name in ("before", "slew", "after")))
    if last == "slew":
        facts += [
            *in_order(end, old["after"]["start_ticks"]),
            end.term < old["after"]["start_ticks"].term,
        ]
    return c.proves(facts, c.shown(old, raw) == c.shown(new, raw))


@pytest.mark.parametrize("last", ["slew", "after"])
def test_tables_agree_up_to_the_old_one_s_end(last):
    assert tables_agree_up_to_the_old_one_s_end(source(LINES), source(PLAN), last)


def nobody_reads_past_the_end(lines):
    c = code(lines)
    raw, end = c.word("raw"), c.word("end")
    return c.proves(in_order(end, raw), c.machine.call("has_ended", {"end_ticks": end}, raw).term)


def test_nobody_reads_past_the_end():
    assert nobody_reads_past_the_end(source(LINES))


# ---- lemma 5: two CPUs. Real numbers, in ticks of the reference


def absolute(x):
    return z3.If(x < 0, -x, x)


def error_of_a_pair(times):
    """(facts, way, error): quickest throws that took the way and up to `times` as long in all."""
    offset, way, there, back = z3.Reals("offset way there back")
    facts = [way > 0, there >= 0, back >= 0, way + there < times * way, way + back < times * way]
    high, low = offset + way + there, offset - way - back  # the ends of skew.h's range
    return facts, way, (high + low) / 2 - offset


def test_below_three_times_the_way_the_estimate_is_off_by_less_than_it():
    facts, way, error = error_of_a_pair(3)
    assert proves(facts, absolute(error) < way)


def test_three_times_is_all_that_can_be_allowed():
    facts, way, error = error_of_a_pair(3.01)
    assert not proves(facts, absolute(error) < way)


def test_who_sees_a_reading_reads_no_less_whatever_stage_a_slew_is_at():
    """From one estimate to the next all between is as good; rounding costs two ticks a CPU."""
    old, new, stage, way, seen, sees, rounding = z3.Reals("old new stage way seen sees rounding")
    error, product = z3.Reals("error product")
    between = [stage >= 0, stage <= 1, error == old + product]  # product = stage * (new - old)
    between += [z3.If(new >= old, z3.And(product >= 0, product <= new - old),
                      z3.And(product <= 0, product >= new - old))]  # fmt: skip
    facts = [*between, absolute(old) < way - 4, absolute(new) < way - 4, absolute(rounding) <= 4]
    # shown is the reference's time less the error, on one CPU; on the other the reference itself
    assert proves([*facts, sees >= seen + way], sees - error + rounding >= seen)
    assert proves([*facts, sees >= seen + way], sees >= seen - error + rounding)


def test_along_the_tree_what_two_cpus_have_in_common_cancels():
    root, one, other, way, seen, sees = z3.Reals("root one other way seen sees")
    facts = [absolute(one) + absolute(other) < way, sees >= seen + way]
    assert proves(facts, sees - (root + other) >= seen - (root + one))


def test_a_star_would_need_the_way_to_the_first_cpu_to_be_the_short_one():
    """Siblings compared by way of another package: each right for its own way, and not together."""
    one, other, near, far = z3.Reals("one other near far")
    facts = [near > 0, far > 10 * near, absolute(one) < far, absolute(other) < far]
    assert not proves(facts, absolute(one - other) < near)


# ---- lemma 6: CPUs without lines. The kernel's clock k, corrected ticks within E of it


def test_what_the_kernel_s_clock_answers_lies_between_those_before_and_after():
    now, wait_end, before, after, error, seen, sees = z3.Reals(
        "now end before after error seen sees"
    )
    answer = now + error
    facts = [error >= 0, wait_end >= now + 2 * error]
    # `seen` was read when the clock showed no more than `now`, `sees` when no less than the end
    facts += [before <= now, absolute(seen - before) <= error]
    facts += [after >= wait_end, absolute(sees - after) <= error]
    assert proves(facts, seen <= answer)
    assert proves(facts, answer <= sees)


def test_two_answers_of_the_kernel_s_clock_are_in_order_also_by_two_anchors():
    """Each anchor has its own error; both are within it of the same corrected ticks."""
    first, second, one, other = z3.Reals("first second one other")
    at_first_end, at_second = z3.Reals("at_first_end at_second")  # corrected ticks then
    facts = [one >= 0, other >= 0, second >= first + 2 * one, at_second >= at_first_end]
    facts += [at_first_end >= first + 2 * one - one, at_second <= second + other]
    assert proves(facts, first + one <= second + other)


def test_a_wait_that_is_half_as_long_would_not_do():
    now, after, error, sees = z3.Reals("now after error sees")
    facts = [error > 0, after >= now + error, absolute(sees - after) <= error]
    assert not proves(facts, now + error <= sees)


# ---- the assumptions can be true, and the proofs are of the source


def test_what_is_taken_for_granted_can_be_so():
    c = code()
    before = c.line("before")
    start, names = before["start_ticks"], ("slew_start", "after_start", "raw")
    slew_start, after_start, raw = (c.word(name) for name in names)
    c.shown(planned(c, before, slew_start, after_start), raw)
    solver = z3.Solver()
    solver.add(*c.domain.facts, *in_order(start, slew_start, after_start, raw))
    solver.add(*c.domain.obligations, before["rate"].term == -(1 << 40), raw.term == 1 << 50)
    assert solver.check() == z3.sat


def spoilt(path, good, bad):
    text = source(path)
    assert text.count(good) == 1, f"{good!r} is not in {path} once: spoil something else"
    return text.replace(good, bad)


SPOILT_LINES = {
    "a-rate-above-one": ("base + timebase_multiply_high(d, rate << 1)", "base + d + d"),
    "a-rate-below-minus-one": ("base - timebase_multiply_high(d, (0 - rate) << 1)", "base - d - d"),
    "the-other-sign-s-factor": ("(int64_t)rate < 0", "(int64_t)rate >= 0"),
}
SPOILT_ENTRIES = {
    "slew-begins-late": (LINES, "has_begun(&entry->slew, raw) ?", "has_begun(&entry->slew, raw - 7) ?"),
    "after-begins-early": (LINES, "has_begun(&entry->after, raw) ?", "has_begun(&entry->slew, raw) ?"),
    "line-begins-elsewhere": (PLAN, "by_cpu_line_ticks(line, raw) - raw", "by_cpu_line_ticks(line, raw) - raw - 1"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILT_LINES)
def test_a_spoilt_line_has_no_proof(name):
    assert not a_line_never_goes_back(spoilt(LINES, *SPOILT_LINES[name]))


def test_a_spoilt_end_has_no_proof():
    assert not nobody_reads_past_the_end(
        spoilt(LINES, "entry->end_ticks)) >= 0", "entry->end_ticks)) >= 7")
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILT_ENTRIES)
def test_a_spoilt_entry_has_no_proof(name):
    path, good, bad = SPOILT_ENTRIES[name]
    texts = {LINES: source(LINES), PLAN: source(PLAN), path: spoilt(path, good, bad)}
    assert not an_entry_never_goes_back(texts[LINES], texts[PLAN])
