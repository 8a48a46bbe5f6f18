# SPDX-License-Identifier: MIT
"""Figures 9 to 12 of the paper: events started by a timer, with something else going on. The
kernel's timers stand for the APIC's, which user space may not program."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from timebase.accuracy.extent import Extent
from timebase.accuracy.figure import axis, carried, exceedance, figure, known, panel, ranges, words
from timebase.accuracy.rows import rows_of
from timebase.accuracy.session import Session, new_waiter
from timebase.accuracy.summary import Trials
from timebase.accuracy.trials import dispatches, take_turns
from timebase.api.library import check, lib

PERIODS = {"100us": 100_000, "15us": 15_000}
TURNS = 4
MOST_POLLED = 1.0  # of a period: waking up takes more than the default share of these short ones
OURS = "timebase"


@dataclass(frozen=True)
class Load:
    words: str
    kind: int | None  # enum timebase_bench_load
    elsewhere: bool = False  # on another CPU


LOADS = {
    "idle": Load("nothing", None),
    "nop": Load("NOP loop", lib.TIMEBASE_BENCH_LOAD_NOP),
    "fence": Load("serialising loop", lib.TIMEBASE_BENCH_LOAD_FENCE),
    "cpuid": Load("CPUID loop", lib.TIMEBASE_BENCH_LOAD_CPUID),
    "memory": Load("rewriting memory", lib.TIMEBASE_BENCH_LOAD_MEMORY),
    "other_core": Load("other core rewriting memory", lib.TIMEBASE_BENCH_LOAD_MEMORY, True),
    "nop_walk": Load("NOP loop, caches walked over", lib.TIMEBASE_BENCH_LOAD_NOP_WALK),
    "cpuid_walk": Load("CPUID loop, caches walked over", lib.TIMEBASE_BENCH_LOAD_CPUID_WALK),
}
DISPATCHERS = {
    "signal": lib.TIMEBASE_BENCH_DISPATCH_SIGNAL,
    "timerfd": lib.TIMEBASE_BENCH_DISPATCH_TIMERFD,
    "nanosleep": lib.TIMEBASE_BENCH_DISPATCH_NANOSLEEP,
    OURS: lib.TIMEBASE_BENCH_DISPATCH_WAITER,
}
LOOKS = {
    "signal": ("POSIX timer, signal", "kernel", "dotted"),
    "timerfd": ("timerfd", "kernel", "dashed"),
    "nanosleep": ("clock_nanosleep", "kernel", "solid"),
    OURS: ("timebase, sleep then wait", "ours", "solid"),
}
# The paper's figure: the load there, the nearest one where there is no CPUID.
PAPER = {"9": ("cpuid", "fence"), "10": ("nop",), "11": ("cpuid_walk",), "12": ("nop_walk",)}


def run(session: Session, extent: Extent, progress) -> dict:
    possible = {name: load for name, load in LOADS.items() if _possible(session, load)}
    cases = [(name, period) for name in possible for period in PERIODS]
    found: dict[tuple, dict[str, Trials]] = {}
    for number, (name, period) in enumerate(cases):
        with _background(session, LOADS[name]):
            found[name, period] = _case(session, extent, LOADS[name], PERIODS[period])
        progress((number + 1) / len(cases))
    made = {case: _rows(session, case, trials_of) for case, trials_of in found.items()}
    rows = {
        (*case, row["method"]): row
        for case, of_case in made.items()
        for row in of_case
        if row["subset"] == "all"
    }
    every = [row for of_case in made.values() for row in of_case]
    figures = [_paper(number, names, found, rows) for number, names in PAPER.items()]
    return {"rows": every, "figures": [*figures, _loads(possible, rows)]}


def _rows(session: Session, case: tuple, found: dict[str, Trials]) -> list[dict]:
    name, period = case
    scenario = f"timer_{period}_{name}"
    names = {by: f"{scenario}_{by}" for by in found}
    mute = tuple(by for by in found if by != OURS)
    return rows_of(session, scenario, found, names=names, mute=mute)


def _possible(session: Session, load: Load) -> bool:
    if load.elsewhere and session.other_cpu is None:
        return False
    return load.kind is None or bool(lib.timebase_bench_load_possible(load.kind))


@contextmanager
def _background(session: Session, load: Load):
    if load.kind is not None:
        cpu = session.other_cpu if load.elsewhere else session.cpu
        check(lib.timebase_bench_load_start(load.kind, cpu))
    try:
        yield
    finally:
        lib.timebase_bench_load_stop()


def _case(session: Session, extent: Extent, load: Load, period_ns: int) -> dict[str, Trials]:
    """All dispatchers in turns. A signal interrupts the load in the thread itself, so there must
    be one; elsewhere than here it is NOP."""
    periods = max(4, int(extent.dispatch_sec * 1e9 / period_ns / TURNS))
    flags = lib.TIMEBASE_WAIT_SLEEP | lib.TIMEBASE_WAIT_REHEARSE
    own = lib.TIMEBASE_BENCH_LOAD_NOP if load.kind is None or load.elsewhere else load.kind
    waiter = new_waiter()  # with no margin learnt from another period
    waiter.set_margin(cpu_share=MOST_POLLED)
    turns = {
        name: partial(
            dispatches, session, number, period_ns, periods, waiter=waiter, flags=flags, load=own
        )
        for name, number in DISPATCHERS.items()
    }
    expected = len(turns) * extent.dispatch_sec
    return take_turns(session, turns, TURNS, expected, lambda share: None)


def _paper(number: str, names: tuple, found: dict, rows: dict) -> dict:
    name = next((name for name in names if (name, "100us") in found), None)
    if name is None:
        return figure(f"figure{number}", number, "", [], "Not on this processor: no CPUID.")
    drawn = [
        panel(
            axis("|error|, ns", "log"),
            axis("share as far off or more", "log"),
            [
                exceedance(*LOOKS[by][:2], trials, dash=LOOKS[by][2])
                for by, trials in found[name, period].items()
            ],
            _every(period),
        )
        for period in PERIODS
    ]
    kernel, ours = rows[name, "100us", "timerfd"], rows[name, "100us", OURS]
    share = carried(kernel, ours, most=90)
    high = f"raw_p{share}_ns"
    title = (
        f"{LOADS[name].words}: every 100 µs a timerfd starts {share} % of events within "
        f"{known(kernel[high])} of their instant, sleep then wait within {known(ours[high])}"
    )
    note = " ".join(_biases(name, period, rows) for period in PERIODS)
    return figure(f"figure{number}", number, title, drawn, note)


def _every(period: str) -> str:
    return f"every {period.replace('us', ' µs')}"


def _biases(name: str, period: str, rows: dict) -> str:
    """What is constant in the picture."""
    said = [
        f"{LOOKS[by][0]} {words(row['bias_ns'])} ({100 * row['late_share']:.2g} % late)"
        for by in DISPATCHERS
        for row in (rows[name, period, by],)
    ]
    return f"Bias {_every(period)}: {', '.join(said)}."


def _loads(possible: dict[str, Load], rows: dict) -> dict:
    names = list(possible)
    panels = []
    for period in PERIODS:
        drawn = []
        for by, shift in (("nanosleep", -0.15), (OURS, 0.15)):
            label, role, _ = LOOKS[by]
            places = [place + shift for place in range(len(names))]
            drawn.append(ranges(label, role, places, [rows[name, period, by] for name in names]))
        panels.append(
            panel(
                axis("|error|, ns: median (dot) to 99th percentile", "log"),
                axis("", names=[load.words for load in possible.values()]),
                drawn,
                _every(period),
            )
        )
    worst = max((rows[name, "100us", OURS]["raw_p90_ns"] or 0.0 for name in names), default=0.0)
    title = (
        f"Whatever else is running, 90 % of events every 100 µs begin within {words(worst)} of "
        "their instant by sleep then wait"
    )
    return figure("loads", None, title, panels)
