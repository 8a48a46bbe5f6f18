# SPDX-License-Identifier: MIT
"""The answer in plain words: can I trust this clock, and what can I use it for?"""

from __future__ import annotations

from timebase.accuracy.figure import known, percent


def verdict(document: dict) -> dict:
    """{"trust": yes | limits | no, "headline", "reasons": [...], "uses": [{"job", "answer", "why"}]}"""
    against, limits = list(_objections(document)), list(_limits(document))
    trust = "no" if against else "limits" if limits else "yes"
    return {
        "trust": trust,
        "headline": HEADLINES[trust],
        "reasons": against or limits,
        "uses": list(_uses(document, trust)),
    }


# Below them nobody can say that time never goes back: on a crowded machine the cores hardly meet.
ENOUGH_READINGS = 1000

HEADLINES = {
    "yes": "Yes: this clock can be trusted on this machine.",
    "limits": "Yes, with limits: this clock can be trusted for some things.",
    "no": "No: do not use the processor's counter as a clock on this machine.",
}


def _objections(document: dict):
    for finding in document["doctor"]["findings"]:
        if finding["severity"] == "critical":
            yield finding["text"]
    if _broken_causality(document):
        yield "Time went backwards between cores, even in ordered readings."


def _limits(document: dict):
    ntp = document["doctor"]["ntp"]
    if ntp is None or not ntp["synchronized"]:
        yield "Durations and order can be trusted; how far UTC is right, nobody here knows."
    outside = document["tracking"]["summary"]["outside_bound"]
    if outside:
        yield f"The clock broke its own bound in {outside} samples."


def _broken_causality(document: dict) -> bool:
    ordered = ("utc", "mono", "counter_ordered")
    rows = document["causality"]["rows"]
    return any(row["violations"] for row in rows if row["name"] in ordered)


def _median(document: dict, name: str) -> float:
    return next(r["median_ns"] for r in document["cost"]["rows"] if r["name"] == name)


def _use(job: str, answer: str, why: str) -> dict:
    return {"job": job, "answer": answer, "why": why}


def _uses(document: dict, trust: str):
    good = "no" if trust == "no" else "yes"
    yield _stamping(document, good)
    yield _ordering(document)
    yield _short_times(document, good)
    yield _starting(document, good)
    yield _long_times(document, good)
    yield _true_utc(document, good)


def _stamping(document: dict, good: str) -> dict:
    unordered, ordered = _median(document, "utc_unordered"), _median(document, "utc")
    kernel = _median(document, "clock_gettime_realtime")
    return _use(
        "Stamping many events",
        good,
        f"A stamp takes {unordered:.1f} ns, ordered {ordered:.1f} ns; clock_gettime {kernel:.1f} ns.",
    )


def _ordering(document: dict) -> dict:
    job = "Telling which of two events on different cores came first"
    rows = {row["name"]: row for row in document["causality"]["rows"]}
    if not rows:
        return _use(job, "yes", "There is one CPU only.")
    row = rows["utc"]
    if row["violations"]:
        return _use(
            job,
            "no",
            f"Time went backwards between cores {row['violations']:,} times, "
            f"by up to {row['worst_ns']:,.0f} ns: the cores' counters differ.",
        )
    if row["reads"] < ENOUGH_READINGS:
        return _use(
            job,
            "limits",
            f"No step back, but in {row['reads']:,} ordered readings only, which are too few to tell. "
            f"Measure again when the machine has less to do.",
        )
    return _use(
        job,
        "yes",
        f"No step back in {row['reads']:,} ordered readings. Not with the _unordered calls, which "
        f"promise no order.",
    )


def _short_times(document: dict, good: str) -> dict:
    laps = document["stopwatch"]
    return _use(
        "Timing a few instructions",
        good,
        f"An empty lap reads {laps['empty']['median_ns']:.1f} ns; 99 % are below "
        f"{laps['empty']['p99_ns']:.1f} ns; the counter steps by {laps['granularity_ns']:.2g} ns.",
    )


def _starting(document: dict, good: str) -> dict:
    """Waiting wins over the naive loop or does not: timebase.accuracy.verdict says which."""
    job, hit = "Starting work at an exact tick", document["hit"]
    if hit["problem"]:
        return _use(job, "no", hit["problem"])
    rows, found = {row["name"]: row for row in hit["rows"]}, hit["verdict"]
    answer = "no" if good == "no" else found["answer"] or "no"
    count = len(found["lost"])
    lost = (
        f" {count} of {found['compared']} percentiles are not below the loop's: " if count else " "
    )
    return _use(job, answer, f"{_errors(rows)}{lost}{(found['why'] or [''])[0]}".strip())


def _errors(rows: dict) -> str:
    exact, loop, asleep = (rows[n] for n in ("exact", "loop", "sleep_then_wait_1khz"))
    return (
        f"Of {exact['trials']:,} exact waits half begin within {known(exact['raw_p50_ns'])} of "
        f"their tick and 99 % within {known(exact['raw_p99_ns'])}; after the naive loop, between "
        f"them, within {known(loop['raw_p50_ns'])} and {known(loop['raw_p99_ns'])}. Asleep until "
        f"just before, 90 % are within {known(asleep['raw_p90_ns'])} and "
        f"{percent(asleep['late_share'])} % late."
    )


def _long_times(document: dict, good: str) -> dict:
    found = document["tracking"]["summary"]
    return _use(
        "Following the system's clock",
        "no" if found["outside_bound"] else good,
        f"It was within {found['p99_ns']:,} ns of CLOCK_REALTIME in 99 % of "
        f"{found['samples']:,} samples, {found['max_ns']:,} ns at worst; "
        f"{found['outside_bound']} samples broke the clock's own bound.",
    )


def _true_utc(document: dict, good: str) -> dict:
    job, ntp = "Comparing stamps with other machines", document["doctor"]["ntp"]
    if ntp is None or ntp["error"]:
        return _use(job, "no", "The kernel does not say how right its own clock is.")
    if not ntp["synchronized"]:
        return _use(job, "no", "Nobody keeps the system's clock right: run an NTP daemon.")
    bound_us = document["doctor"]["clock"]["utc_maxerror_ns"] / 1000
    return _use(job, good, f"True UTC is within {bound_us:,.1f} µs of the stamps.")
