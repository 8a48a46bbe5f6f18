# SPDX-License-Identifier: MIT
"""Delays of 10 ns to 10 ms, from the call to the return: the paper's mdelay, and what it would
be with a polling loop or with the kernel."""

from __future__ import annotations

from functools import partial

from timebase.accuracy.extent import Extent
from timebase.accuracy.figure import axis, figure, panel, series, words
from timebase.accuracy.session import Session
from timebase.accuracy.summary import Trials, median, row
from timebase.accuracy.trials import delays, take_turns
from timebase.api.library import lib

DELAYS_NS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000,
             100_000, 1_000_000, 10_000_000)  # fmt: skip
LEAST_TRIALS = 10
DELAYERS = {
    "": lib.TIMEBASE_BENCH_DELAY_WAITER,
    "_loop": lib.TIMEBASE_BENCH_DELAY_LOOP,
    "_nanosleep": lib.TIMEBASE_BENCH_DELAY_SLEEP,
}
# The watch around nothing: no delay can be measured more closely than this.
NOTHING = "_watch"
# The time of a trial beside the delay: readings, and the kernel's part of a sleep.
BESIDE_NS = {"": 1_000, "_loop": 1_000, "_nanosleep": 60_000, NOTHING: 1_000}
LOOKS = {"": ("timebase_delay_ns", "ours"), "_loop": ("polling loop", "article"),
         "_nanosleep": ("clock_nanosleep", "kernel"), NOTHING: ("the watch alone", "muted")}  # fmt: skip


def name_of(delay_ns: int, how: str = "") -> str:
    """delay_200ns, delay_1us_loop"""
    for unit, letters in ((1_000_000, "ms"), (1_000, "us")):
        if delay_ns >= unit:
            return f"delay_{delay_ns // unit}{letters}{how}"
    return f"delay_{delay_ns}ns{how}"


def run(session: Session, extent: Extent, progress) -> dict:
    rows: dict[tuple, dict] = {}
    for number, delay_ns in enumerate(DELAYS_NS):
        for how, trials in _delays(session, extent, delay_ns).items():
            name = name_of(delay_ns, how)
            # No bias is taken off: a delay includes all of its error.
            rows[delay_ns, how] = row(name, trials, evidence=False, bias_ns=0.0)
        progress((number + 1) / len(DELAYS_NS))
    return {"rows": list(rows.values()), "figures": [_picture(rows)]}


def _delays(session: Session, extent: Extent, delay_ns: int) -> dict[str, Trials]:
    """Errors of each way, less the measurement's own share, which was found in the same turns."""

    def block(how: str) -> int:
        trials = int(extent.delay_sec * 1e9 / (delay_ns + BESIDE_NS[how]))
        return -(-max(LEAST_TRIALS, min(trials, extent.delays)) // extent.rounds)

    ways = {NOTHING: lib.TIMEBASE_BENCH_DELAY_NONE, **DELAYERS}
    turns = {how: partial(delays, session, way, delay_ns, block(how)) for how, way in ways.items()}
    expected = len(turns) * extent.delay_sec
    found = take_turns(session, turns, extent.rounds, expected, lambda share: None)
    overhead_ns = median(found[NOTHING].error_ns)
    for trials in found.values():
        trials.error_ns = trials.error_ns - overhead_ns
    return found


def _picture(rows: dict) -> dict:
    short, long = rows[200, ""], rows[1_000, ""]
    title = (
        f"A delay of 200 ns is within {words(short['p99_ns'])} of it in 99 % of trials, "
        f"one of 1 µs within {words(long['p99_ns'])}"
    )
    panels = [
        panel(
            axis("delay, ns", "log"),
            axis("|error|, ns", "log"),
            [
                series(label, role, "line", DELAYS_NS, [rows[ns, how][key] for ns in DELAYS_NS])
                for how, (label, role) in LOOKS.items()
            ],
            of_what,
        )
        for key, of_what in (("p50_ns", "median"), ("p99_ns", "99th percentile"))
    ]
    note = (
        "From the call to the return, what the measurement adds taken off. After a long delay the "
        "caller's next instructions are cold, and that is in."
    )
    return figure("delay", None, title, panels, note)
