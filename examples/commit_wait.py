# SPDX-License-Identifier: MIT
"""commit_wait: number an event by a time that nobody who hears of it can be behind."""

import sys

import timebase

try:
    clock = timebase.Clock.attach()
except timebase.TimebaseError:  # no daemon: the process' own clock has no more than an estimate
    clock = timebase.default_clock()

try:
    now = clock.wait_bound(50_000_000, timeout_ns=100_000_000)
except timebase.EstimateError as nobody:
    print(f"no bound below 50 ms: {nobody}")  # take another order then
    sys.exit(0)
if now is None:
    print("no bound below 50 ms: the deadline passed first")
    sys.exit(0)

commit_ns = now.latest_ns
print("the work of the transaction goes here, while the doubt grows old")
clock.wait_after(commit_ns)
print(f"committed at {commit_ns}: every clock that is right shows more by now")
