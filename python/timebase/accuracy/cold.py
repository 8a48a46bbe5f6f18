# SPDX-License-Identifier: MIT
"""Cold caches: what they do to the wait, and to the function that begins at its end."""

from __future__ import annotations

from timebase.accuracy.extent import Extent
from timebase.accuracy.figure import axis, carried, figure, known, panel, ranges
from timebase.accuracy.rows import rows_of
from timebase.accuracy.scenario import Scenario
from timebase.accuracy.scenario import run as run_scenario
from timebase.accuracy.session import Session
from timebase.accuracy.trials import Method
from timebase.api.library import lib

# 12 to 14 µs: the time to prepare, too
SCENARIO = Scenario("cold", "12 to 14 µs ahead, caches cold", (12_000, 14_000), 10)
WARM, LOOP = "event_warm", "loop_cold"
MUTE = ("paper_cold", LOOP)


def _methods() -> dict[str, Method]:
    """The measuring code is always warm. The event's function is warm or cold."""
    prepare, rehearse = lib.TIMEBASE_WAIT_PREPARE, lib.TIMEBASE_WAIT_REHEARSE
    flush = lib.TIMEBASE_BENCH_FLUSH_EVENT
    walk = lib.TIMEBASE_BENCH_WALK | lib.TIMEBASE_BENCH_TOUCH_INSTRUMENT
    touched = walk | lib.TIMEBASE_BENCH_TOUCH_EVENT
    methods = {
        LOOP: Method(loop=lib.TIMEBASE_BENCH_NAIVE, before=walk),
        "paper_cold": Method(loop=lib.TIMEBASE_BENCH_PAPER, before=touched),
        "exact_cold_unprepared": Method(before=touched),
        "exact_cold": Method(before=touched, flags=prepare),
        WARM: Method(),
        "event_flushed": Method(before=flush),
        "event_flushed_prepared": Method(before=flush, flags=prepare),
        "event_flushed_rehearsed": Method(before=flush, flags=rehearse),
        "event_cold": Method(before=walk),
        "event_cold_prepared": Method(before=walk, flags=prepare),
        "event_cold_rehearsed": Method(before=walk, flags=rehearse),
    }
    possible = lib.timebase_bench_before_possible()
    return {name: method for name, method in methods.items() if not method.before & ~possible}


def run(session: Session, extent: Extent, progress) -> dict:
    expected_sec = extent.seconds["cold"]
    found = run_scenario(session, extent, SCENARIO, _methods(), extent.cold, expected_sec, progress)
    made = rows_of(session, SCENARIO.id, found, mute=MUTE)
    rows = {row["name"]: row for row in made}
    return {"rows": made, "figures": [_wait(rows), _event(rows)]}


def _wait(rows: dict) -> dict:
    names = {
        "paper_cold": "the paper's loop",
        "exact_cold_unprepared": "exact",
        "exact_cold": "exact, prepared",
        WARM: "exact, caches warm",
    }
    pair = [rows["exact_cold"], rows["exact_cold_unprepared"]]
    share = carried(*pair, most=90)
    prepared, not_prepared = (known(row[f"raw_p{share}_ns"]) for row in pair)
    title = (
        f"With cold caches {share} % of exact waits begin within {prepared} of the tick if "
        f"prepared, {not_prepared} if not"
    )
    note = (
        "Data of twice the second-level cache and 256 KiB of code are walked over before each "
        "trial; the event's function is made warm again."
    )
    return figure("cold", None, title, [_ranges(rows, names)], note)


def _event(rows: dict) -> dict:
    names = {
        LOOP: "cold, the naive loop",
        WARM: "warm",
        "event_flushed": "its line flushed",
        "event_flushed_prepared": "flushed, prefetched",
        "event_flushed_rehearsed": "flushed, rehearsed",
        "event_cold": "all caches cold",
        "event_cold_prepared": "cold, prefetched",
        "event_cold_rehearsed": "cold, rehearsed",
    }
    pair = [rows["event_cold"], rows["event_cold_rehearsed"]]
    share = carried(*pair, most=90)
    cold, rehearsed = (known(row[f"raw_p{share}_ns"]) for row in pair)
    title = (
        f"{share} % of functions whose code is cold begin within {cold} of the tick, rehearsed "
        f"within {rehearsed}"
    )
    return figure("event", None, title, [_ranges(rows, names)])


def _ranges(rows: dict, names: dict[str, str]) -> dict:
    there = [name for name in names if name in rows]
    places: dict[str, list[int]] = {"article": [], "ours": []}
    for place, name in enumerate(there):
        places["article" if name.startswith(("paper", "loop")) else "ours"].append(place)
    drawn = [
        ranges("", role, of_role, [rows[there[place]] for place in of_role])
        for role, of_role in places.items()
    ]
    return panel(
        axis("|error|, ns: median (dot) to 99th percentile", "log"),
        axis("", names=[names[name] for name in there]),
        drawn,
    )
