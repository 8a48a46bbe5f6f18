# SPDX-License-Identifier: MIT
"""now: what time is it, and how sure is that? The same as now.c, in Python."""

import timebase

clock = timebase.default_clock()

# The short way: a number.
print(f"ns since 1970-01-01: {clock.utc_ns()}\n")

# The long way: one tick of the counter, and everything it says.
now = clock.now()
print(f"UTC        {now.utc_ns} ns")
print(f"           +/- {now.maxerror_ns / 1e3:.3f} us from the system clock")
claimed_ms = now.utc_maxerror_ns / 1e6
print(f"           +/- {claimed_ms:.3f} ms from true UTC, as the system clock says of itself")
print(f"monotonic  {now.mono_ns} ns since boot")
print(f"TAI        {'unknown' if now.tai_offset_sec is None else f'{now.tai_ns} ns'}")
print(f"tick       {now.ticks}")
print(f"status     {now.status.name}")

# SYNCHRONIZED makes the second bound a promise, if it is not flagged as the kernel's word.
if now.status == timebase.Status.SYNCHRONIZED and not now.is_estimate:
    print(f"true UTC lies within {2 * now.utc_maxerror_ns} ns")
else:
    print("true UTC: nobody promises where it lies")
