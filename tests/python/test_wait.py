# SPDX-License-Identifier: MIT
"""Waiting from Python. Errors are not judged here: they are the machine's."""

import math
import threading
from fractions import Fraction
from functools import partial

import pytest

from timebase import (
    Disturbance,
    Mechanism,
    Waiter,
    WaitFlag,
    default_clock,
    rehearsing,
    ticks_ordered,
)
from timebase.api.library import ffi
from timebase.api.wait_result import (
    WaiterDescription,
    WaitResult,
    disturbance_texts,
    mechanism_text,
)


@pytest.fixture(scope="module")
def waiter():
    return Waiter()


@pytest.fixture
def clock():
    return default_clock()


@pytest.mark.parametrize(
    "record, structure",
    [(WaitResult, "timebase_wait_result"), (WaiterDescription, "timebase_waiter_description")],
)
def test_records_have_every_member_of_the_header(record, structure):
    members = {name for name, _ in ffi.typeof(f"struct {structure}").fields} - {"unused"}
    assert set(record.__dataclass_fields__) == members


@pytest.mark.parametrize("flags", [0, *WaitFlag, WaitFlag.SLEEP | WaitFlag.PREPARE])
def test_wait_returns_after_the_event_it_tells_of(waiter, clock, flags):
    target = clock.mono_ns() + 200_000
    result = waiter.until_mono(target, flags)
    assert (ticks_ordered() - result.event_ticks) % 2**64 < 2**63
    assert result.error_bound_ns >= 0
    assert math.isfinite(result.error_ns)
    assert isinstance(result.mechanism, Mechanism)
    assert isinstance(result.disturbance, Disturbance)
    assert isinstance(result.late, bool)


def test_tick_is_the_tick_asked_for(waiter):
    target = ticks_ordered() + 1_000_000
    assert waiter.until_ticks(target).target_ticks == target


def test_utc_is_waited_for(waiter, clock):
    target = clock.utc_ns() + 200_000
    waiter.until_utc(target)
    # Clock and waiter are one, but it may have been slewed since: 500 ppm of what was waited for.
    assert clock.utc_ns() >= target - 1000


def test_never_early_is_never_early(waiter, clock):
    """By the counter's own reading in the event, however disturbed the wait."""
    for _ in range(200):
        result = waiter.until_mono(clock.mono_ns() + 30_000, WaitFlag.NEVER_EARLY)
        assert (result.event_ticks - result.target_ticks) % 2**64 < 2**63


def test_past_target_is_late_and_at_once(waiter, clock):
    result = waiter.until_mono(clock.mono_ns() - 1000)
    assert result.late
    assert result.error_ns > 0


def test_delay_ends(waiter):
    assert waiter.delay(0).error_ticks is not None
    before = waiter.clock.mono_ns()
    waiter.delay(1_000_000, WaitFlag.NEVER_EARLY)
    assert waiter.clock.mono_ns() - before > 500_000


def test_long_waits_are_cut_for_signals_and_end_all_the_same(waiter, clock):
    for flags in (WaitFlag.SLEEP, WaitFlag.PLAIN):
        target = clock.mono_ns() + 160_000_000
        waiter.until_mono(target, flags)
        assert clock.mono_ns() > target - 1_000_000


@pytest.mark.parametrize("target", ["ticks", "mono_ns", "utc_ns"])
def test_function_is_called_once(waiter, clock, target):
    now = {"ticks": ticks_ordered, "mono_ns": clock.mono_ns, "utc_ns": clock.utc_ns}[target]()
    calls = []
    waiter.call(lambda: calls.append(rehearsing()), **{target: now + 1_000_000})
    assert calls == [False]


def test_rehearsal_comes_first_and_is_known_as_one(waiter, clock):
    calls = []
    waiter.call(
        lambda: calls.append(rehearsing()),
        mono_ns=clock.mono_ns() + 50_000_000,
        flags=WaitFlag.REHEARSE,
    )
    assert calls[-1] is False
    assert calls[:-1] in ([], [True])  # [] if the machine was away for all of the time before
    assert not rehearsing()


def test_what_the_function_raises_comes_out(waiter, clock):
    def fail():
        raise KeyError("from within")

    with pytest.raises(KeyError, match="from within"):
        waiter.call(fail, mono_ns=clock.mono_ns() + 100_000)


def test_call_wants_one_target(waiter):
    with pytest.raises(TypeError, match="exactly one"):
        waiter.call(print)
    with pytest.raises(TypeError, match="exactly one"):
        waiter.call(print, ticks=1, mono_ns=1)


NOT_A_NUMBER = [math.nan, math.inf, -math.inf]
NOT_AN_INTEGER = ["1", "", None, True, 1.0, 1e18, Fraction(1), [1], 1j, b"1"]
METHODS = ["until_ticks", "until_mono", "until_utc", "delay"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("target", NOT_A_NUMBER)
def test_no_number_is_a_value_error(waiter, method, target):
    with pytest.raises(ValueError, match="not a number"):
        getattr(waiter, method)(target)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("target", NOT_AN_INTEGER)
def test_no_integer_is_a_type_error(waiter, method, target):
    with pytest.raises(TypeError, match="must be an integer"):
        getattr(waiter, method)(target)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("target", [-1, -(2**63), 2**64, 10**30])
def test_out_of_range_is_a_value_error(waiter, method, target):
    with pytest.raises(ValueError, match="must be from 0"):
        getattr(waiter, method)(target)


@pytest.mark.parametrize("kind", ["mono", "utc", "ticks"])
@pytest.mark.parametrize("flags", [0, WaitFlag.SLEEP])
def test_beyond_a_century_is_a_value_error(waiter, clock, kind, flags):
    if kind == "ticks":
        target = (ticks_ordered() + 2**63 - 1) % 2**64
    else:
        target = getattr(clock, f"{kind}_ns")() + 101 * 31_557_600 * 10**9
    with pytest.raises(ValueError, match="100 years"):
        getattr(waiter, f"until_{kind}")(target, flags)


@pytest.mark.parametrize("flags", [128, -1, 2**32, 2**31])
def test_unknown_flags_are_a_value_error(waiter, flags):
    with pytest.raises(ValueError, match="flags"):
        waiter.delay(100, flags)


def test_integers_of_other_libraries_will_do(waiter):
    numpy = pytest.importorskip("numpy")
    assert waiter.delay(numpy.int64(100)) is not None


def test_waiter_belongs_to_its_thread(waiter):
    refusals = []

    def use():
        for method in (partial(waiter.delay, 100), waiter.describe, partial(waiter.read_fine, 0)):
            try:
                method()
            except RuntimeError as refusal:
                refusals.append(str(refusal))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert len(refusals) == 3
    assert all("thread" in refusal for refusal in refusals)


@pytest.mark.parametrize("flags", [0, WaitFlag.REHEARSE])
def test_function_needs_a_waiter_of_its_own(waiter, clock, flags):
    with pytest.raises(RuntimeError, match="of its own"):
        waiter.call(lambda: waiter.delay(5000), mono_ns=clock.mono_ns() + 10**6, flags=flags)
    seen = []
    result = waiter.call(
        lambda: seen.append((waiter.read_fine(ticks_ordered()), waiter.describe())),
        mono_ns=clock.mono_ns() + 10**6,
        flags=flags,
    )
    assert result.event_ticks and seen
    assert waiter.delay(5000).event_ticks


def test_description_counts_waits(waiter):
    before = waiter.describe()
    waiter.delay(100_000)  # short delays are runs of instructions, and no waits
    after = waiter.describe()
    assert after.waits == before.waits + 1
    assert after.mechanism in Mechanism
    assert after.calibrations >= 1
    assert after.quantum_ns > 0


def test_calibrating_again_is_counted(waiter):
    before = waiter.describe().calibrations
    waiter.calibrate()
    assert waiter.describe().calibrations > before


@pytest.mark.parametrize("margin", [(0, 0.5), (1, 0.5), (math.nan, 0.5), (0.9, 0), (0.9, 1.1)])
def test_margin_out_of_range_is_a_value_error(waiter, margin):
    with pytest.raises(ValueError, match="quantile"):
        waiter.set_margin(*margin)
    waiter.set_margin(0.99, 0.05)


def test_fine_reading_lies_between_two_ordinary_ones(waiter):
    base = ticks_ordered()
    for _ in range(100):
        before = ticks_ordered() - base
        fine = waiter.read_fine(base)
        after = ticks_ordered() - base
        assert before - fine.bound_ticks <= fine.ticks <= after + fine.bound_ticks


def test_mechanisms_and_disturbances_have_names():
    texts = [mechanism_text(mechanism) for mechanism in Mechanism]
    assert all(texts)
    assert len(set(texts)) == len(texts)
    assert len(set(disturbance_texts(sum(Disturbance)))) == len(Disturbance)
    assert disturbance_texts(0) == []
