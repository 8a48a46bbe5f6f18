# SPDX-License-Identifier: MIT
"""Whatever happens to a clock, within the assumptions of docs/bound.md: its bounds hold.

Worlds in virtual time (tests/simulation/world.c around the library's own discipline), lived through
by lists of happenings. The lists are the same in each run. One that breaks a promise is printed as
it was found, and then without what it can do without.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from cffi import FFI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    *(
        path
        for pure in ("line", "page", "discipline", "servo")
        for path in sorted((ROOT / "src/clock" / pure).glob("*.c"))
    ),
    ROOT / "tests/simulation/world.c",
    ROOT / "tests/simulation/watch.c",
    ROOT / "tests/property/happenings.c",
]
FOLDERS = ["include", "src", "tests/simulation", "tests/property"]
HEADER = (ROOT / "tests/property/happenings.h").read_text()
THOUSANDS = int(os.environ.get("TIMEBASE_TEST_WORLDS", "3000"))

MS, SECOND = 1e6, 1e9


def declarations():
    """The header without its preprocessor's lines."""
    return "\n".join(line for line in HEADER.splitlines() if not line.startswith("#"))


@dataclass
class Simulator:
    ffi: FFI
    lib: object

    def live(self, seed, counter_hz, claim_error_ns, happenings):
        names = [(getattr(self.lib, "HAPPENING_" + kind), value) for kind, value in happenings]
        verdict = self.ffi.new("struct verdict *")
        self.lib.happenings_live(
            seed, counter_hz, claim_error_ns, self.ffi.new("struct happening[]", names), len(names), verdict
        )  # fmt: skip
        return verdict


@pytest.fixture(scope="session")
def simulator(tmp_path_factory):
    library = tmp_path_factory.mktemp("simulator") / "simulator.so"
    done = subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", "-D_GNU_SOURCE", *(f"-I{ROOT / f}" for f in FOLDERS),
         *map(str, SOURCES), "-o", str(library), "-lcmocka", "-lm"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ffi = FFI()
    ffi.cdef(declarations())
    return Simulator(ffi, ffi.dlopen(str(library)))


def between(low, high):
    return st.floats(low, high, allow_nan=False)


# Any two paces of the oscillator are within 50 ppm (A3), of the reference within 500 (A4).
QUIET = {
    "PASS": st.one_of(between(1e3, 1e6), between(1e6, 1e8), between(1e8, 30 * SECOND)),
    "READ": st.integers(1, 300).map(float),
    "SLEW": between(-240, 240),
    "DRIFT": between(-24, 24),
    "LOSE": st.sampled_from([0.0, 0.5, 1.0]),
    "BRACKET": between(20, 3000),
    "DISTURB": between(0, 1),
    "BIAS": between(-1, 1),
    "SYNCHRONIZED": st.sampled_from([0.0, 1.0]),
}
# What no one can know before the next sample, and the reading after it does.
STEPS = QUIET | {"STEP": between(-10 * SECOND, 10 * SECOND)}
# A machine that sleeps while its reference is out of reach is not promised to stay monotonic.
SLEEPS = {name: values for name, values in STEPS.items() if name != "LOSE"} | {
    "SUSPEND": between(2 * SECOND, 1e13)
}
# Nor is one whose counter goes back.
JUMPS = SLEEPS | {"JUMP": st.one_of(between(1e10, 1e13), between(-1e13, -1e10))}


def lists_of(kinds):
    one = st.one_of(*(st.tuples(st.just(kind), values) for kind, values in kinds.items()))
    return st.lists(one, min_size=1, max_size=40)


def worlds(kinds):
    return {
        "seed": st.integers(0, (1 << 64) - 1),
        "hz": st.one_of(between(1e8, 5e9), between(1e6, 1e8)),
        "claim_error_ns": st.sampled_from([0.0, 100.0, 1e6]),
        "happenings": lists_of(kinds),
    }


def is_bounded(verdict):
    return (verdict.outside, verdict.untrue) == (0, 0)


def is_sound(verdict):
    return is_bounded(verdict) and verdict.backwards == 0


def without_the_needless(happenings, is_broken):
    """Each happening left out once, if the rest breaks the promise all the same."""
    index = 0
    while index < len(happenings):
        rest = happenings[:index] + happenings[index + 1 :]
        happenings, index = (rest, index) if is_broken(rest) else (happenings, index + 1)
    return happenings


def holds(simulator, seed, hz, claim_error_ns, happenings, holds_promise=is_sound):
    def is_broken(some):
        return not holds_promise(simulator.live(seed, hz, claim_error_ns, [*some, ("READ", 3.0)]))

    if not is_broken(happenings):
        return
    print(f"broken: {seed}, {hz!r}, {claim_error_ns}, {happenings}", flush=True)
    shortest = without_the_needless(happenings, is_broken)
    pytest.fail(f"broken: {seed}, {hz!r}, {claim_error_ns}, {shortest}")


def any_number(count):
    """No shrinking by Hypothesis: it has no end that a time limit could rely on."""
    return settings(max_examples=count, deadline=None, derandomize=True, phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck))  # fmt: skip


@given(**worlds(QUIET))
@any_number(200)
def test_bounds_hold_whatever_happens_within_the_assumptions(
    simulator, seed, hz, claim_error_ns, happenings
):
    holds(simulator, seed, hz, claim_error_ns, happenings)


@given(**worlds(STEPS))
@any_number(200)
def test_bounds_hold_again_after_the_sample_that_shows_a_step(
    simulator, seed, hz, claim_error_ns, happenings
):
    holds(simulator, seed, hz, claim_error_ns, happenings)


@given(**worlds(SLEEPS))
@any_number(200)
def test_bounds_hold_again_after_the_sample_that_shows_a_sleep(
    simulator, seed, hz, claim_error_ns, happenings
):
    holds(simulator, seed, hz, claim_error_ns, happenings)


@given(**worlds(JUMPS))
@any_number(200)
def test_bounds_hold_again_once_a_jump_is_over(simulator, seed, hz, claim_error_ns, happenings):
    holds(simulator, seed, hz, claim_error_ns, happenings, is_bounded)


@pytest.mark.slow
@given(**worlds(STEPS))
@any_number(THOUSANDS)
def test_bounds_hold_in_thousands_of_worlds(simulator, seed, hz, claim_error_ns, happenings):
    holds(simulator, seed, hz, claim_error_ns, happenings)


# Each broke a promise once: seed, counter's frequency, half-width of the claim, happenings.
COUNTEREXAMPLES = {
    "a slew that ended while samples were lost": (
        582212022935, 2530463617.752581, 100.0,
        [("LOSE", 0.5), ("PASS", 875883.6849995767), ("SLEW", -225.74169687598186),
         ("PASS", 37963525.31742704), ("SYNCHRONIZED", 0.0), ("PASS", 94010860.12660742),
         ("BIAS", 0.5), ("SLEW", 0.0), ("BRACKET", 1471.1329496461076), ("READ", 191.0),
         ("LOSE", 0.0), ("BRACKET", 1923.793914452595), ("PASS", 566641.3469768527), ("READ", 44.0)],
    ),
    "its essence": (
        522, 2530463617.752581, 100.0,
        [("LOSE", 0.5), ("PASS", 875883.6849995767), ("SLEW", -225.74169687598186),
         ("PASS", 94010860.12660742), ("BRACKET", 1471.1329496461076), ("SLEW", 0.0),
         ("READ", 191.0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_bounds_hold_where_they_were_broken(simulator, name):
    seed, hz, claim_error_ns, happenings = COUNTEREXAMPLES[name]
    for other in (seed, *range(1000)):
        holds(simulator, other, hz, claim_error_ns, happenings)


def test_bounds_are_not_idle_talk(simulator):
    """In some world each is reached by half, and nearly all readings carry a promise."""
    quiet = [("BIAS", 0.99), ("STEP", -0.99e6), ("READ", 300.0)]
    quiet += [("SLEW", 240.0), ("READ", 300.0), ("SLEW", -240.0), ("READ", 300.0)] * 4
    verdict = simulator.live(1, 2.6e9, 1e6, quiet)
    assert is_sound(verdict)
    print(
        f"seed 1: {verdict.tightest_share:.2f} of the bound, {verdict.tightest_true:.2f} of UTC's"
    )
    assert verdict.tightest_share >= 0.4
    assert verdict.tightest_true >= 0.5
    assert verdict.promised > 0.99 * verdict.readings


def test_oracle_sees_what_is_outside(simulator):
    """An oscillator that strays beyond its allowance, and a source that lies, are found out."""
    astray = [("READ", 3000.0), ("LOSE", 1.0), ("DRIFT", 5000.0), ("PASS", 2e9), ("PASS", 2e9)]
    assert simulator.live(2, 2.6e9, 0.0, astray).outside > 0
    liar = [("BIAS", -3.0), ("STEP", 3e6), ("READ", 300.0)]
    assert simulator.live(2, 2.6e9, 1e6, liar).untrue > 0
