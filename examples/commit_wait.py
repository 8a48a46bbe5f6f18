# SPDX-License-Identifier: MIT
"""commit_wait: number an event by a time that nobody who hears of it can be behind."""

import timebase

clock = timebase.default_clock()
try:
    now = clock.wait_bound(50_000_000, timeout_ns=100_000_000)
except timebase.TimebaseError as nobody:  # here nobody promises anything about UTC
    raise SystemExit(f"no promise: {nobody}") from None
if now is None:
    raise SystemExit("no bound below 50 ms")

commit_ns = now.latest_ns
print("the work of the transaction goes here, while the doubt grows old")
clock.wait_after(commit_ns)
print(f"committed at {commit_ns}: every clock that is right shows more by now")
