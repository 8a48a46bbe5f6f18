# SPDX-License-Identifier: MIT
"""Pages as a writer makes them, any of them; and what they mean, in exact integers.

Written from page.h's formula alone: neither the C code nor the model beside the specification.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

from timebase import Page

BITS = 1 << 64
SLOWEST_PERIOD = 1000 << 64  # 1 MHz, in 2^-64 ns
FASTEST_PERIOD = (1 << 64) // 10  # 10 GHz


@dataclass(frozen=True)
class Lines:
    """`value` is the exact time at the start, in 2^-64 ns; the page shows its floor."""

    starts: tuple  # ticks, not reduced to 64 bits
    values: tuple
    periods: tuple  # 2^-64 ns
    utc_offset_ns: int

    def page(self):
        before, slew, after = (self._fields(index) for index in range(3))
        return Page.from_lines(before, slew, after)

    def _fields(self, index):
        return {
            "start_ticks": self.starts[index] % BITS,
            "mono_ns": self.values[index] >> 64,
            "utc_ns": ((self.values[index] >> 64) + self.utc_offset_ns) % BITS,
            "period_ns": self.periods[index] >> 64,
            "period_frac": self.periods[index] % BITS,
            "flags": 2,
        }

    def mono_ns(self, tick):
        """The floor of the line that the tick lies on; `before` has no beginning."""
        index = sum(tick >= start for start in self.starts[1:])
        shown = self.values[index] >> 64 << 64  # the page holds whole nanoseconds
        return (shown + (tick - self.starts[index]) * self.periods[index]) >> 64


@st.composite
def lines(draw):
    """Three lines that join without a gap, slopes up to 500 ppm apart, anywhere in 64 bits."""
    period = draw(st.integers(FASTEST_PERIOD, SLOWEST_PERIOD))
    ppm = draw(st.tuples(*[st.integers(-500, 500)] * 3))
    periods = tuple(period + period * part // 1_000_000 for part in ppm)
    start = draw(st.integers(0, BITS - 1))
    spans = draw(st.tuples(*[st.integers(0, 1 << 33)] * 2))
    value = draw(st.integers(1 << 50, 1 << 61)) << 64 | draw(st.integers(0, BITS - 1))
    starts, values = [start], [value]
    for span, slope in zip(spans, periods):
        starts.append(starts[-1] + span)
        values.append(values[-1] + span * slope)
    offset = draw(st.integers(-(1 << 60), 1 << 60))
    return Lines(tuple(starts), tuple(values), periods, offset)


def ticks_near(some, reach=1 << 34):
    """A tick before, on, between or after the lines; often right at a joint."""
    joints = st.sampled_from(some.starts)
    return st.one_of(
        st.builds(int.__add__, joints, st.integers(-3, 3)),
        st.integers(some.starts[0] - reach, some.starts[2] + reach),
    )
