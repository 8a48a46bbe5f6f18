# SPDX-License-Identifier: MIT
"""The table of waits in docs/guide/hit.md: some rows of bench/results/accuracy.md, of the same runs."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import record

from timebase.accuracy.figure import percent
from timebase.cli.accuracy_table import number, signed

BEGIN, END = "<!-- make accuracy: begin -->\n", "<!-- make accuracy: end -->\n"
PERCENTILES = ("p50", "p90", "p95", "p99")
ROWS = {
    "0.25 to 2 µs ahead: naive loop": "loop",
    "0.25 to 2 µs ahead: **exact wait**": "exact",
    "those of it without evidence of a disturbance": "exact_undisturbed",
    "the stopwatch alone": "watch",
    "1 ms ahead: naive loop": "loop_far",
    "1 ms ahead: **exact wait, rehearsed**": "rehearsed_far",
    "after 100 ms idle: naive loop": "loop_idle",
    "after 100 ms idle: **exact wait, rehearsed**": "rehearsed_idle",
    "all caches cold: naive loop": "loop_cold",
    "all caches cold: **exact wait, rehearsed**": "event_cold_rehearsed",
    "1,000 a second: naive loop": "loop_1khz",
    "1,000 a second: **sleep then wait**": "sleep_then_wait_1khz",
    "delay of 200 ns: naive loop": "delay_200ns_loop",
    "delay of 200 ns: **`timebase_delay_ns`**": "delay_200ns",
    "delay of 1 µs: naive loop": "delay_1us_loop",
    "delay of 1 µs: **`timebase_delay_ns`**": "delay_1us",
}


def lines(heading: str, verdict: str, every: list[dict[str, dict]]) -> Iterator[str]:
    """`every`: the rows of each run by name."""
    yield f"{heading} {len(every)} run{'s' if len(every) > 1 else ''}, medians; errors in ns."
    yield ""
    head = " / ".join(PERCENTILES)
    yield f"| wait | n | \\|error\\|: {head} | bias | about the median: {head} |"
    yield "|---|---:|---:|---:|---:|"
    for words, name in ROWS.items():
        rows = [rows[name] for rows in every if name in rows]
        if rows:
            yield _line(words, rows)
    asleep = [rows["sleep_then_wait_1khz"] for rows in every if "sleep_then_wait_1khz" in rows]
    if asleep:
        late, cpu = (median(row[key] for row in asleep) for key in ("late_share", "cpu_share"))
        yield ""
        yield f"Sleep then wait: {percent(late)} % late, {percent(cpu)} % of the CPU. {verdict}"


def _line(words: str, rows: list[dict]) -> str:
    def of(key: str) -> str:
        values = [row[key] for row in rows if row[key] is not None]
        return number(median(values) if 2 * len(values) > len(rows) else None)

    raw = " / ".join(of(f"raw_{key}_ns") for key in PERCENTILES)
    spread = " / ".join(of(f"{key}_ns") for key in PERCENTILES)
    count = sum(row["trials"] for row in rows)
    bias = signed(median(row["bias_ns"] for row in rows))
    share = median(row["share"] for row in rows)
    named = f"{words} ({percent(share)} %)" if rows[0]["subset"] != "all" else words
    return f"| {named} | {count:,} | {raw} | {bias} | {spread} |"


def replaced(text: str, table: list[str]) -> str:
    """The text with the table between its marks; ValueError if these are not there."""
    return record.between(text, BEGIN, END, "\n".join(table) + "\n")
