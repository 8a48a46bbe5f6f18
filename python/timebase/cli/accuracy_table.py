# SPDX-License-Identifier: MIT
"""The table of `timebase accuracy`: |error| as it is, the bias, then the spread about the median."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape

from timebase.accuracy.figure import percent
from timebase.bench.percentile import DASH, least_count

# What the table shows, by scenario; the JSON has all rows.
SHOWN = {
    "0.25 to 2 µs ahead": (
        *("loop", "loop_quiet", "loop_busy", "exact", "exact_undisturbed", "exact_quiet"),
        *("exact_busy", "exact_steady", "exact_steady_busy", "exact_never_early", "plain"),
        *("paper", "watch"),
    ),
    "1 ms ahead, polling": ("loop_far", "exact_far", "rehearsed_far", "watch_far"),
    "4 to 14 µs ahead, after 100 ms idle": (
        *("loop_idle", "exact_idle", "rehearsed_idle", "watch_idle"),
    ),
    "4 to 14 µs ahead, after 8 MiB of other work": (
        *("loop_work", "exact_work", "rehearsed_work", "watch_work"),
    ),
    "0.25 to 2 µs ahead, after AVX-512": ("loop_vector", "exact_vector", "watch_vector"),
    "12 to 14 µs ahead, caches cold": (
        *("loop_cold", "exact_cold_unprepared", "exact_cold", "event_cold"),
        *("event_cold_prepared", "event_cold_rehearsed"),
    ),
    "every 100 µs, beside a CPUID loop": (
        *("timer_100us_cpuid_timerfd", "timer_100us_cpuid_timebase"),
    ),
    "1,000 a second": ("loop_1khz", "nanosleep_1khz", "sleep_then_wait_1khz"),
    "delays": (
        *("delay_200ns_loop", "delay_200ns", "delay_200ns_quiet", "delay_200ns_watch"),
        *("delay_1us_loop", "delay_1us", "delay_1us_quiet", "delay_1us_watch"),
    ),
}
PERCENTILES = ("p50", "p90", "p95", "p99")
NAME, COUNT, COLUMN, SHARE = 28, 8, 8, 8  # letters
WIDE = NAME + COUNT + 9 * COLUMN + 6 * SHARE
SHARES = {
    "late": "late_share",
    "disturb": "disturbed_share",
    "by loop": "loop_share",
    "CPU": "cpu_share",
}
MOST_LOST = 6
ANSWERS = {
    "yes": "yes",
    "limits": "with limits",
    "no": "no",
    None: "not known, for there was no loop beside a wait",
}


def print_table(document: dict) -> None:
    console = Console(highlight=False, soft_wrap=True)
    percentiles = PERCENTILES
    if console.is_terminal and console.width < WIDE:
        percentiles = PERCENTILES[:1] + PERCENTILES[2:3]
    for line in _lines(document, percentiles, len(percentiles) == len(PERCENTILES)):
        console.print(line, markup=False)
    console.print()
    for line in (*_notes(document), ""):
        console.print(line, markup=False)
    for figure in document["figures"]:
        said = escape(figure["title"] or figure["note"])
        console.print(f"[dim]{figure['id']}[/]  {said}")
    console.print()
    for line in verdict_lines(document["verdict"]):
        console.print(line, markup=False)


def _lines(document: dict, percentiles: tuple, with_conditions: bool) -> Iterator[str]:
    """A heading, then the rows of each scenario below its words."""
    width = COLUMN * len(percentiles)
    yield f"{'ns':{NAME + COUNT}}{'|error|':>{width}}{'':{COLUMN}}{'|error − bias|':>{width}}"
    errors = [f"{name:>{COLUMN}}" for name in percentiles]
    heads = [*SHARES, "shared", "steps"] if with_conditions else []
    yield "".join(
        [f"{'':{NAME}}", f"{'n':>{COUNT}}", *errors, f"{'bias':>{COLUMN}}", *errors]
        + [f"{head:>{SHARE}}" for head in heads]
    )
    rows = {row["name"]: row for row in document["rows"]}
    for scenario, names in SHOWN.items():
        there = [name for name in names if name in rows]
        if there:
            yield scenario
        for name in there:
            yield _line(rows[name], percentiles, with_conditions)


def _line(row: dict, percentiles: tuple, with_conditions: bool) -> str:
    cells = [number(row[f"raw_{name}_ns"]) for name in percentiles]
    cells += [signed(row["bias_ns"])]
    cells += [number(row[f"{name}_ns"]) for name in percentiles]
    text = f"  {row['name']:{NAME - 2}}{row['trials']:>{COUNT},}"
    text += "".join(f"{cell:>{COLUMN}}" for cell in cells)
    if not with_conditions:
        return text
    found = row["conditions"]
    shares = [*(row[key] for key in SHARES.values()), found["busy_share"]]
    text += "".join(f"{'' if share is None else percent(share):>{SHARE}}" for share in shares)
    return text + f"{DASH if found['clock_steps'] is None else found['clock_steps']:>{SHARE}}"


def number(ns: float | None) -> str:
    """Of a percentile that there may not be; from 10,000 on in µs."""
    if ns is None:
        return DASH
    if ns >= 9_999.5:
        return f"{ns / 1000:,.0f} µs"
    return f"{ns:.1f}" if ns < 99.95 else f"{ns:,.0f}"


def signed(ns: float) -> str:
    return ("-" if round(ns, 1) < 0 else "+") + number(abs(ns))


def verdict_lines(verdict: dict) -> list[str]:
    """Does waiting win over the loop of the same run?"""
    lost, compared = len(verdict["lost"]), verdict["compared"]
    answer = ANSWERS[verdict["answer"]]
    said = f"Does waiting win over the naive loop here? {answer}: {compared - lost} of {compared}"
    shown = [f"  {why}" for why in verdict["why"][:MOST_LOST]]
    more = len(verdict["why"]) - len(shown)
    shown += [f"  and {more} more"] if more else []
    return [f"{said} percentiles are below those of the loop beside it.", *shown]


def _notes(document: dict) -> Iterator[str]:
    machine, conditions, core = (document[key] for key in ("machine", "conditions", "core"))
    refused = ", ".join(refusal["name"] for refusal in conditions["refused"]) or "nothing"
    yield (
        "In %: late; disturbed by the waits' own evidence; ended by the polling loop; CPU; shared: "
        "blocks before and after which the core made less than "
        f"{core['busy_below']:.0%} of its {core['additions_per_cycle']} additions a cycle. Steps: "
        "blocks during which the core's clock changed."
    )
    yield (
        f"{DASH}: too few trials: p50 needs {least_count(0.5)}, p90 {least_count(0.9)}, p95 "
        f"{least_count(0.95)}, p99 {least_count(0.99):,}."
    )
    yield (
        f"{machine['processor']}, {machine['counter']} {machine['frequency_hz'] / 1e6:,.0f} MHz, "
        f"pinned to CPU {conditions['cpu']}, {conditions['scheduler']}, refused: {refused}, load "
        f"{conditions['load_average'][0]}; exact waits by {document['waiter']['mechanism']}; seed "
        f"{document['seed']}, {document['seconds']} s."
    )
