# SPDX-License-Identifier: MIT
"""elapsed: how long a few lines take, without what the watch itself takes. Nested if need be."""

import timebase


def work():
    return sum(number * number for number in range(1000))


watch = timebase.Stopwatch()
print(f"an empty block takes {watch.overhead_ns:.0f} ns; they are subtracted")

with watch as nothing:
    pass
with watch as first:
    work()

with watch as both:
    work()
    with watch as second:
        work()

for name, elapsed in [
    ("nothing", nothing),
    ("work, first time", first),
    ("work twice", both),
    ("the second of the two", second),
]:
    print(f"{name:24} {elapsed.ns:12.0f} ns +/- {elapsed.uncertainty_ns:.0f}")
