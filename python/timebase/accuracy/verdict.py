# SPDX-License-Identifier: MIT
"""Does waiting this way win here? The one place that says so.

The library's waits are compared with the naive loop of the same scenario, whose blocks lay between
theirs: |error| itself and its spread about the median, at each percentile that both can carry, of
all trials and of those made while the core was seen quiet or busy.

    no      a median of the near exact wait is not below the loop's, or not known; or 90 % of these
            waits are not within 100 ns of their tick, which the paper of 1997 hoped for
    limits  one of the other percentiles, of whatever scenario, is not below the loop's
    yes     all are
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from timebase.accuracy.figure import words
from timebase.accuracy.scenario import EXACT, LOOP, REHEARSED, STEADY
from timebase.accuracy.sleep import OURS

MARUTI_NS = 100.0
# The percentiles by which waits are judged; the wait with the steadier tail is there for its 99th.
JUDGED = {
    EXACT: ("p50", "p90", "p95", "p99"),
    REHEARSED: ("p50", "p90", "p95", "p99"),
    STEADY: ("p99",),
    OURS: ("p50", "p90"),
}
LOOP_OF = {OURS: "loop_1khz"}
SUBSETS = {"all": "", "quiet": " while the core was quiet", "busy": " while the core was shared"}


@dataclass(frozen=True)
class Comparison:
    """One percentile of a wait and of the loop beside it."""

    row: str
    against: str
    subset: str
    percentile: str  # p50 ... p99
    raw: bool  # of |error|; else about the median
    wait_ns: float
    loop_ns: float

    @property
    def wins(self) -> bool:
        return self.wait_ns < self.loop_ns


def comparisons(rows: Sequence[dict]) -> Iterator[Comparison]:
    """All there are; a percentile that one side cannot carry is not compared."""
    found = {(row["scenario"], row["method"], row["subset"]): row for row in rows}
    for (scenario, method, subset), row in found.items():
        loop = found.get((scenario, LOOP_OF.get(method, LOOP), subset))
        for percentile in JUDGED.get(method, ()) if loop else ():
            for prefix in ("raw_", ""):
                pair = [of[f"{prefix}{percentile}_ns"] for of in (row, loop)]
                if None not in pair:
                    names = row["name"], loop["name"]
                    yield Comparison(*names, subset, percentile, bool(prefix), *pair)


def judge(rows: Sequence[dict]) -> dict:
    """{"answer": yes | limits | no, "why": [...], "lost": [...], "compared": n}; answer None if
    there was nothing to judge by."""
    found = list(comparisons(rows))
    lost = [one for one in found if not one.wins]
    objections = list(_objections(rows, found)) if found else []
    answer = "no" if objections else "limits" if lost else "yes"
    return {
        "answer": answer if found else None,
        "why": objections or [_words(one) for one in lost],
        "lost": [asdict(one) for one in lost],
        "compared": len(found),
    }


def _objections(rows: Sequence[dict], found: list[Comparison]) -> Iterator[str]:
    near = next((row for row in rows if row["name"] == EXACT), None)
    if near is None:
        return
    medians = [one for one in found if one.row == EXACT and one.percentile == "p50"]
    if not medians:
        yield "There are too few exact waits to know their median."
    for one in medians:
        if not one.wins:
            yield _words(one)
    p90 = near["raw_p90_ns"]
    if p90 is not None and p90 > MARUTI_NS:
        yield f"90 % of exact waits begin within {words(p90)} of their tick only."


def _words(one: Comparison) -> str:
    about = "" if one.raw else " about the median"
    share = one.percentile[1:]
    return (
        f"{one.row}: {share} % are within {words(one.wait_ns)}{about}, of the naive loop within "
        f"{words(one.loop_ns)}{SUBSETS[one.subset]}."
    )
