# SPDX-License-Identifier: MIT
"""Laws of conversion, for all pages: through the Python binding, on the C code."""

import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from pages import BITS, lines, ticks_near
from timebase import Page

settings.register_profile("timebase", deadline=None, max_examples=300, print_blob=True)
settings.load_profile("timebase")


@given(st.data(), lines())
def test_conversion_is_the_floor_of_the_exact_time(data, some):
    tick = data.draw(ticks_near(some))
    instant = some.page().convert(tick % BITS)
    assert instant.ticks == tick % BITS
    assert instant.mono_ns == some.mono_ns(tick)
    assert instant.utc_ns == instant.mono_ns + some.utc_offset_ns


@given(st.data(), lines())
def test_a_later_tick_is_never_an_earlier_time(data, some):
    page = some.page()
    first = data.draw(ticks_near(some))
    second = first + data.draw(st.integers(0, 1 << 20))
    assert page.convert(first % BITS).mono_ns <= page.convert(second % BITS).mono_ns


@given(lines())
def test_lines_join_without_a_gap(some):
    page = some.page()
    for joint in some.starts[1:]:
        step = page.convert(joint % BITS).mono_ns - page.convert((joint - 1) % BITS).mono_ns
        # one tick, and what two roundings down can add
        assert 0 <= step <= (max(some.periods) >> 64) + 3


@given(st.data(), lines(), st.booleans())
def test_inverse_is_the_first_tick_not_before_the_target(data, some, is_utc):
    page = some.page()
    target = page.convert(data.draw(ticks_near(some)) % BITS).mono_ns
    target += data.draw(st.integers(-2000, 2000))
    if is_utc:
        target += some.utc_offset_ns
    tick = page.ticks_at_utc(target) if is_utc else page.ticks_at_mono(target)

    def shown(ticks):
        instant = page.convert(ticks % BITS)
        return instant.utc_ns if is_utc else instant.mono_ns

    assert shown(tick) >= target
    assert shown(tick - 1) < target


@given(st.data(), lines())
def test_a_tick_and_back_is_a_tick_of_the_same_nanosecond(data, some):
    page = some.page()
    tick = data.draw(ticks_near(some)) % BITS
    back = page.ticks_at_mono(page.convert(tick).mono_ns)
    assert (tick - back) % BITS < 1 << 63  # not later than the tick
    assert page.convert(back).mono_ns == page.convert(tick).mono_ns


@given(
    st.data(),
    lines(),
    st.integers(0, 1 << 40),
    st.integers(0, (1 << 32) - 1),
    st.integers(0, (1 << 32) - 1),
)
def test_bounds_grow_with_the_distance(data, some, maxerror_ns, drift_rate, slew_rate):
    page = some.page()
    for copy in page._page.copy:
        for line in (copy.before, copy.slew, copy.after):
            line.maxerror_ns, line.utc_maxerror_ns = maxerror_ns, 1
            line.drift_rate, line.slew_rate = drift_rate, slew_rate
    distance = data.draw(st.integers(0, 1 << 40))
    for tick in (some.starts[2] + distance, some.starts[0] - distance):
        instant = page.convert(tick % BITS)
        on_a_later_line = tick >= some.starts[1]
        d = distance if not on_a_later_line else tick - some.starts[1 + (tick >= some.starts[2])]
        drift, slew = d * drift_rate >> 32, d * slew_rate >> 32
        assert instant.maxerror_ns == maxerror_ns + drift + slew
        assert instant.utc_maxerror_ns == maxerror_ns + drift + 1


@given(lines())
def test_bytes_and_back_in_both_byte_orders(some):
    page = some.page()
    page.validate()
    native = page.to_bytes()
    other = "big" if sys.byteorder == "little" else "little"
    foreign = Page.from_bytes(native, other).to_bytes()
    assert Page.from_bytes(native).to_bytes() == native
    assert Page.from_bytes(foreign, other).to_bytes() == native
    assert foreign != native
