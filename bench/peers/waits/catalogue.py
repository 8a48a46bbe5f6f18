# SPDX-License-Identifier: MIT
"""What is compared: every way to wait that the driver runs, and cyclictest."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Waiter:
    """One way to wait; `name` is the one the driver gives it."""

    name: str
    language: str
    call: str  # for a delay
    until: str = ""  # for an instant; empty: it has none


NAIVE = "naive_loop"
WAITERS = (
    Waiter("timebase_exact", "C", "`timebase_delay_ns`", "`timebase_wait_until_ticks`"),
    Waiter(
        "timebase_steady",
        "C",
        "`timebase_delay_ns`, `STEADY`",
        "`timebase_wait_until_ticks`, `STEADY`",
    ),
    Waiter(
        "timebase_plain",
        "C",
        "`timebase_delay_ns`, `PLAIN`",
        "`timebase_wait_until_ticks`, `PLAIN`",
    ),
    Waiter(
        "timebase_sleep",
        "C",
        "`timebase_delay_ns`, `SLEEP` and `PREPARE`",
        "`timebase_wait_call_ticks`, `SLEEP` and `REHEARSE`",
    ),
    Waiter("timebase_rehearsed", "C", "", "`timebase_wait_call_ticks`, `REHEARSE`"),
    Waiter(NAIVE, "C", "the naive loop: `while (ticks < target)`", "the naive loop"),
    Waiter("clock_gettime_loop", "C", "loop over `clock_gettime`", "loop over `clock_gettime`"),
    Waiter("clock_nanosleep", "C", "`clock_nanosleep`", "`clock_nanosleep`, absolute"),
    Waiter(
        "chrono_sleep", "C++", "`std::this_thread::sleep_for`", "`std::this_thread::sleep_until`"
    ),
    Waiter("dpdk_block", "C", "DPDK `rte_delay_us_block`"),
    Waiter(
        "rust_thread_sleep", "Rust", "std `thread::sleep`", "std `thread::sleep` of what is left"
    ),
    Waiter("spin_sleep", "Rust", "spin_sleep `sleep`", "spin_sleep `sleep_until`"),
    Waiter(
        "spin_sleep_hint",
        "Rust",
        "spin_sleep `sleep`, `SpinLoopHint`",
        "spin_sleep `sleep_until`, `SpinLoopHint`",
    ),
    Waiter("cyclictest", "C", "", "`cyclictest` [1]"),
)
BY_NAME = {waiter.name: waiter for waiter in WAITERS}
NOTHING = "nothing"  # the driver's name for the stopwatch around no wait at all
KINDS = ("delay", "period")  # what is asked for; the driver's other kinds are about the stopwatch
OURS = "timebase_"
PERIOD_NS = 1_000_000

FOOTNOTES = (
    (
        "[1] cyclictest is a program of its own, run between the rounds on the same CPU, and its"
        " figures are those it takes itself: CLOCK_MONOTONIC after the wake-up, less the instant"
        " asked for. Its CPU share is not known."
    ),
)
