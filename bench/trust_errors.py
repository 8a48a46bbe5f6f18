# SPDX-License-Identifier: MIT
"""The figures of bench/trust.py on the two errors that a clock tells: how wide, and how often true.

What is compared is a clock and CLOCK_REALTIME, which it follows (measure/tracking.h). A trial is a
daemon and a process that have just been started; the process reads the daemon's clock and its own in
turns. This file run with PAGE, SETTLE and SECONDS is that process, and prints its readings.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low

from trust_stand import (
    Failed,
    attach,
    folder,
    is_fresh,
    row,
    say,
    start_daemon,
    stop,
    wait_for,
)


@dataclass(frozen=True)
class Extent:
    trials: int
    settle_sec: int
    seconds: int  # of each trial, after it has settled


# An estimate remembers 5 minutes of corrections (docs/bound.md): those of the beginning are large.
FULL = Extent(trials=3, settle_sec=300, seconds=300)
QUICK = Extent(trials=2, settle_sec=2, seconds=5)
WANTED_COVERAGE = 0.999  # of esterror, in quiet
WANTED_ESTERROR_NS = 20
CLOCKS = {"attached": "an attached clock, reference kernel", "own": "a process' own clock"}


def errors(quick: bool) -> list[dict]:
    extent, taken = QUICK if quick else FULL, []
    for number in range(extent.trials):
        taken.append(_trial(extent))
        say(f"  trial {number + 1} of {extent.trials}")
    return [
        one
        for clock, name in CLOCKS.items()
        for one in rows(name, [trial[clock] for trial in taken], extent)
    ]


def _trial(extent: Extent) -> dict[str, list[dict]]:
    with folder() as where:
        daemon = start_daemon(where)
        try:
            wait_for(where, daemon, is_fresh)
            command = [sys.executable, __file__, where / "page"]
            command += [str(extent.settle_sec), str(extent.seconds)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        finally:
            stop(daemon)
    if done.returncode != 0:
        raise Failed(f"the process that reads ended with {done.returncode}: {done.stderr[-200:]}")
    return json.loads(done.stdout)


def rows(name: str, trials: list[list[dict]], extent: Extent) -> list[dict]:
    """Of one clock: the readings of each trial, as timebase.bench.tracking takes them."""
    every = [reading for trial in trials for reading in trial]
    about = {
        "trials": len(trials),
        "seconds": extent.seconds,
        "settle_sec": extent.settle_sec,
        "readings": len(every),
        "readings_of_trials": [len(trial) for trial in trials],
        "statuses": Counter(reading["status"] for reading in every),
    }
    return [
        _width(name, "esterror", every, about, WANTED_ESTERROR_NS),
        _coverage(name, "esterror", trials, about, WANTED_COVERAGE),
        _width(name, "maxerror", every, about, None),
        _coverage(name, "maxerror", trials, about, 1),
    ]


def _width(name: str, error: str, every: list[dict], about: dict, most_ns: int | None) -> dict:
    from timebase.bench.tracking import percentiles

    p50, p99, most = percentiles([one[f"{error}_ns"] for one in every], [0.5, 0.99, 1])
    return row(
        f"{error} of {name}, {about['settle_sec']} s old or more, p50 / p99 / max",
        f"p50 ≤ {most_ns} ns" if most_ns else "",
        f"{p50:,} / {p99:,} / {most:,} ns",
        p50 <= most_ns if most_ns else None,
        p50_ns=p50,
        p99_ns=p99,
        max_ns=most,
        **about,
    )


def _coverage(name: str, error: str, trials: list[list[dict]], about: dict, wanted: float) -> dict:
    """With the half bracket taken off each distance, and beside it the count without that."""
    from timebase.bench.tracking import is_within

    width = f"{error}_ns"
    every = [reading for trial in trials for reading in trial]
    within = [sum(is_within(one, width) for one in trial) for trial in trials]
    raw = sum(abs(one["error_ns"]) <= one[width] for one in every)
    bracket_ns = median_low(one["bracket_ns"] for one in every)
    worst = min(zip(within, map(len, trials)), key=lambda pair: pair[0] / pair[1])
    return row(
        f"readings of {name} within {error} of CLOCK_REALTIME, less half the bracket",
        "all" if wanted == 1 else f"≥ {wanted:.1%}",
        f"{share(sum(within), len(every))}: {sum(within):,} of {len(every):,}, worst of "
        f"{len(trials)} trials of {about['seconds']} s {share(*worst)}; nothing taken off (half "
        f"a bracket is {bracket_ns} ns): {raw:,}",
        sum(within) >= wanted * len(every),
        within=within,
        within_raw=raw,
        median_bracket_ns=bracket_ns,
        **about,
    )


def share(part: int, whole: int) -> str:
    """In hundredths of a per cent, rounded down: 100 % is all of them."""
    return f"{part * 10_000 // whole / 100:.2f} %"


def read(page: Path, settle_sec: float, seconds: float) -> dict[str, list[dict]]:
    """Readings of both clocks after they have settled."""
    from timebase.api.library import lib
    from timebase.bench import tracking

    shared = attach(page)  # keeps its clock alive
    clocks = {"attached": shared._clock, "own": lib.timebase_clock_default()}
    found: dict[str, list[dict]] = {name: [] for name in clocks}
    begin = time.monotonic() + settle_sec
    while (now := time.monotonic()) < begin + seconds:
        # In both orders: the first reading after a pause meets cold caches.
        for name in random.sample(sorted(clocks), len(clocks)):
            reading = tracking.take(clocks[name])
            if now >= begin:
                found[name].append(reading)
        tracking.pause()
    return found


if __name__ == "__main__":
    json.dump(read(Path(sys.argv[1]), *map(float, sys.argv[2:])), sys.stdout)
