# SPDX-License-Identifier: MIT
"""Figures 3 to 8 of the paper: error against target offset."""

from __future__ import annotations

import numpy

from timebase.accuracy import offset_pictures
from timebase.accuracy.extent import Extent
from timebase.accuracy.offset_pictures import FIRST_NS, UNALIGNED, Sweep
from timebase.accuracy.session import Session
from timebase.accuracy.summary import quantile
from timebase.accuracy.trials import Method, bounded, hits, loop_numbers
from timebase.api.library import lib

POINTS = 160
TEETH = 8  # periods of the loop in a sweep
PASSES = 10  # over all places
PROBES = 400  # random targets, to learn the period from


def run(session: Session, extent: Extent, progress) -> dict:
    sweeps = _plans(session)
    seconds = extent.seconds["offset"]
    for turn in bounded(extent.sweeps, 0.6 * seconds):
        for sweep in sweeps.values():
            found = hits(session, sweep.method, sweep.ahead_ticks)
            sweep.error_ns.append(found.error_ns)
        progress(0.6 * (turn + 1) / extent.sweeps)
    spreads = _spreads(session, extent, 0.4 * seconds)
    progress(1.0)
    in_a_guest = bool(session.counter.hypervisor)
    return {"rows": [], "figures": offset_pictures.draw(sweeps, spreads, in_a_guest)}


def _methods() -> dict[str, Method]:
    loops = loop_numbers()
    methods = {name: Method(loop=number) for name, number in loops.items()}
    methods["cold"] = Method(loop=loops["paper"], before=lib.TIMEBASE_BENCH_WALK)
    if lib.timebase_bench_loop_places() > UNALIGNED:
        methods["unaligned"] = Method(loop=loops["paper"], place=UNALIGNED)
    methods["exact"] = Method()
    return methods


def _plans(session: Session) -> dict[str, Sweep]:
    """As many targets as show some periods of the loop; the exact wait, which has none, gets
    those of the paper's."""
    steps = {loop: _step_ticks(session, loop) for loop in loop_numbers().values()}
    first = int(FIRST_NS / session.ns_per_tick)
    plans = {}
    for name, method in _methods().items():
        beyond = steps[max(method.loop, lib.TIMEBASE_BENCH_PAPER)] * numpy.arange(POINTS)
        plans[name] = Sweep(method, first + beyond, beyond * session.ns_per_tick, [])
    return plans


def _step_ticks(session: Session, loop: int) -> int:
    """Errors of random targets are as good as uniform over a period."""
    targets = session.random_ticks(FIRST_NS, 2 * FIRST_NS, PROBES)
    low, high = quantile(hits(session, Method(loop=loop), targets).error_ns, [0.25, 0.75])
    return max(1, round(2 * (high - low) * TEETH / session.ns_per_tick / POINTS))


def _spreads(session: Session, extent: Extent, expected_sec: float) -> dict[int, float]:
    """From the 5th to the 95th percentile, ns, for each place at which the loop can start. The
    order is random: else a disturbance of some ms would look like a property of neighbouring
    places."""
    places = list(range(lib.timebase_bench_loop_places()))
    errors: dict[int, list] = {place: [] for place in places}
    for _ in bounded(PASSES, expected_sec):
        for place in session.random.permutation(places).tolist():
            method = Method(loop=lib.TIMEBASE_BENCH_PAPER, place=place)
            count = max(1, extent.places // PASSES)
            ahead = session.random_ticks(FIRST_NS, 2 * FIRST_NS, count)
            errors[place].append(hits(session, method, ahead).error_ns)
    return {
        place: float(numpy.subtract(*quantile(numpy.concatenate(found), [0.95, 0.05])))
        for place, found in errors.items()
    }
