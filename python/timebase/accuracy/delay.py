# SPDX-License-Identifier: MIT
"""Delays of 10 ns to 10 ms, from the call to the return: the paper's mdelay, and what it would
be with a polling loop or with the kernel."""

from __future__ import annotations

from timebase.accuracy.extent import Extent
from timebase.accuracy.figure import axis, figure, known, panel, series
from timebase.accuracy.rows import rows_of
from timebase.accuracy.scenario import EXACT, LOOP, WATCH, Scenario
from timebase.accuracy.scenario import run as run_scenario
from timebase.accuracy.session import Session
from timebase.accuracy.trials import Method
from timebase.api.library import lib

DELAYS_NS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000,
             100_000, 1_000_000, 10_000_000)  # fmt: skip
LEAST_TRIALS = 20
BLOCK_NS = 100_000
MOST_BLOCK = 50
KERNEL = "nanosleep"
DELAYERS = {
    EXACT: lib.TIMEBASE_BENCH_WAITER,
    LOOP: lib.TIMEBASE_BENCH_NAIVE,
    KERNEL: lib.TIMEBASE_BENCH_SLEEP,
    WATCH: lib.TIMEBASE_BENCH_NOTHING,
}
MUTE = tuple(DELAYERS)  # a delay without a result tells no evidence
BESIDE_NS = 20_000  # readings, and the kernel's part of a sleep; mean of the ways
LOOKS = {EXACT: ("timebase_delay_ns", "ours"), LOOP: ("polling loop", "article"),
         KERNEL: ("clock_nanosleep", "kernel"), WATCH: ("the stopwatch alone", "muted")}  # fmt: skip


def name_of(delay_ns: int, method: str = EXACT) -> str:
    """delay_200ns, delay_1us_loop"""
    how = "" if method == EXACT else f"_{method}"
    for unit, letters in ((1_000_000, "ms"), (1_000, "us")):
        if delay_ns >= unit:
            return f"delay_{delay_ns // unit}{letters}{how}"
    return f"delay_{delay_ns}ns{how}"


def run(session: Session, extent: Extent, progress) -> dict:
    rows: dict[tuple, dict] = {}
    for number, delay_ns in enumerate(DELAYS_NS):
        for found in _rows(session, extent, delay_ns):
            rows[delay_ns, found["method"], found["subset"]] = found
        progress((number + 1) / len(DELAYS_NS))
    return {"rows": list(rows.values()), "figures": [_picture(rows)]}


def _rows(session: Session, extent: Extent, delay_ns: int) -> list[dict]:
    """Errors of each way, less the measurement's own share, which was found beside each trial."""
    trials = int(extent.delay_sec * 1e9 / (delay_ns + BESIDE_NS))
    trials = max(LEAST_TRIALS, min(trials, extent.delays))
    block = max(1, min(MOST_BLOCK, BLOCK_NS // (delay_ns + 1), trials))
    scenario = Scenario(name_of(delay_ns), f"delay of {delay_ns} ns", (delay_ns, delay_ns), block)
    methods = {
        method: Method(loop=loop, form=lib.TIMEBASE_BENCH_DELAY, delay_ns=delay_ns)
        for method, loop in DELAYERS.items()
    }
    expected_sec = len(methods) * extent.delay_sec
    found = run_scenario(
        session, extent, scenario, methods, trials, expected_sec, lambda share: None
    )
    names = {method: name_of(delay_ns, method) for method in found}
    return rows_of(
        session, scenario.id, found, names=names, mute=MUTE, by_sibling=scenario.by_sibling
    )


def _picture(rows: dict) -> dict:
    short, long = (rows[ns, EXACT, "all"] for ns in (200, 1_000))
    title = (
        f"A delay of 200 ns is within {known(short['raw_p90_ns'])} of it in 90 % of trials, "
        f"one of 1 µs within {known(long['raw_p90_ns'])}"
    )
    panels = [
        panel(
            axis("delay, ns", "log"),
            axis("|error|, ns", "log"),
            [_line(rows, method, key) for method in LOOKS],
            of_what,
        )
        for key, of_what in (("raw_p50_ns", "median"), ("raw_p90_ns", "90th percentile"))
    ]
    note = (
        "From the call to the return, what calling it costs included; what the measurement adds "
        "is taken off. After a long delay the caller's next instructions are cold, and that is in."
    )
    return figure("delay", None, title, panels, note)


def _line(rows: dict, method: str, key: str) -> dict:
    there = [ns for ns in DELAYS_NS if rows[ns, method, "all"][key] is not None]
    values = [rows[ns, method, "all"][key] for ns in there]
    return series(*LOOKS[method], "line", there, values)
