#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every goal figure of the clock, measured in one go: `make goals`, on a quiet machine.

Writes bench/results/goals.md, and goals.json with all samples beside it. Where noise can only add,
a figure is taken RUNS times and the median stands.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles

import record

RUNS = 5
CAUSALITY_READS = 50_000_000
TORTURE_READS = 1_000_000_000
TRACKING_SEC = 300
CENTURY_SEC = 3_155_760_000
FIRST_READINGS = 25
ORDERED = ("counter_ordered", "utc", "mono")
# What a reading may cost, by the vendor in /proc/cpuinfo: the vendors differ in how much arithmetic
# hides behind a read of the counter, and in what the kernel's own reading costs. Others: no goal.
COST_MUSTS = {
    "GenuineIntel": {
        "unordered_to_counter": "≤ 1.18",
        "utc_to_realtime": "≤ 0.80",
        "interval_to_realtime": "≤ 0.85",
    },
    "AuthenticAMD": {
        "unordered_to_counter": "≤ 1.05",
        "utc_to_realtime": "≤ 0.87",
        "interval_to_realtime": "≤ 0.89",
    },
}
NO_MUST = "–"

FIRST_READING = """
import time
from timebase.api.library import lib
clock = lib.timebase_clock_default()
start = time.perf_counter_ns()
lib.timebase_utc_ns(clock)
print(time.perf_counter_ns() - start)
"""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def test_program(folder: str, name: str, **environment: str) -> str:
    """What a test program of the native build prints; it must pass."""
    path = record.ROOT / "build/native/tests" / folder / name
    if not path.exists():
        sys.exit(f"bench/goals.py: {path} is missing: run scripts/build native first")
    full = {**os.environ, **environment}
    done = subprocess.run([path], capture_output=True, text=True, env=full, check=False)
    if done.returncode != 0:
        sys.exit(f"bench/goals.py: {name} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def vendor(cpuinfo: str) -> str | None:
    """As the processor names it; None where the kernel does not say, as on Arm and Power."""
    found = re.search(r"^vendor_id\s*:\s*(\S+)", cpuinfo, re.MULTILINE)
    return found and found[1]


def costs(quick: bool) -> dict:
    from timebase.bench import cost

    found: dict[str, list[float]] = {}
    for run in range(2 if quick else RUNS):
        say(f"cost per call, run {run + 1}")
        rows = {row["name"]: row["median_ns"] for row in cost.run(300, 1000)["rows"]}
        for name, top, bottom in (
            ("unordered_to_counter", "utc_unordered", "counter"),
            ("utc_to_realtime", "utc", "clock_gettime_realtime"),
            ("interval_to_realtime", "utc_interval", "clock_gettime_realtime"),
            ("published_to_quiet", "page_updated_1khz", "utc"),
        ):
            found.setdefault(name, []).append(rows[top] / rows[bottom])
    return {"vendor": vendor(Path("/proc/cpuinfo").read_text()), "ratios": found}


def causality(quick: bool) -> dict:
    from timebase.bench import causality as experiment

    wanted = CAUSALITY_READS // (50 if quick else 1)
    total: dict[str, dict] = {}
    while not total or min(total[name]["reads"] for name in total if name in ORDERED) < wanted:
        reads = sum(row["reads"] for row in total.values())
        say(f"causality between cores, {reads / 1e6:.0f} million readings so far")
        for row in experiment.run(1.0)["rows"]:
            sums = total.setdefault(row["name"], {"reads": 0, "violations": 0, "worst_ns": 0})
            sums["reads"] += row["reads"]
            sums["violations"] += row["violations"]
            sums["worst_ns"] = max(sums["worst_ns"], row["worst_ns"])
    return total


def torture(quick: bool) -> list[dict]:
    say("backward steps of mono under slews and steps")
    reads = TORTURE_READS // (50 if quick else 1)
    text = test_program("interleave", "interleave_clock_torture", TIMEBASE_TEST_READS=str(reads))
    pattern = r"(\d+) million reads, (\d+) publications, (\d+) late,.* (\d+) backward"
    keys = ("million_reads", "publications", "late", "backward")
    return [dict(zip(keys, map(int, match))) for match in re.findall(pattern, text)]


def tracking(quick: bool) -> dict:
    from timebase.bench import tracking as experiment

    seconds = 5 if quick else TRACKING_SEC
    say(f"error against CLOCK_REALTIME, {seconds} s")
    found = experiment.run(seconds)
    late = [abs(e) for t, e in zip(found["time_sec"], found["error_ns"]) if t >= 1]
    thousandths = quantiles(late, n=1000, method="inclusive")
    return {
        "seconds": seconds,
        "samples": len(late),
        "p50_ns": thousandths[499],
        "p999_ns": thousandths[998],
        "max_ns": max(late),
        "outside_bound": found["summary"]["outside_bound"],
    }


def rate_change(_quick: bool) -> dict:
    text = test_program("simulation", "simulation_rate_change")
    found = re.findall(r"after 1 s (-?[\d.]+) ns, .* overshoot (-?[\d.]+) ns", text)
    return {
        "after_1_s_ns": max(abs(float(after)) for after, _ in found),
        "overshoot_ns": max(float(overshoot) for _, overshoot in found),
    }


def first_reading(_quick: bool) -> list[int]:
    say("first reading of a process")
    command = [sys.executable, "-c", FIRST_READING]
    return [
        int(subprocess.run(command, capture_output=True, check=True).stdout)
        for _ in range(FIRST_READINGS)
    ]


def conversion(_quick: bool) -> float:
    """Proved, not measured (tests/proof): the floor, and 2^-64 ns for each tick of 5 GHz."""
    return 1 + 5e9 * CENTURY_SEC / 2**64


PARTS = {
    "cost": costs,
    "causality": causality,
    "tracking": tracking,
    "torture": torture,
    "rate_change": rate_change,
    "first_reading_ns": first_reading,
    "conversion_ns": conversion,
}


Row = tuple[str, str, str]  # what, reached, must


def cost_rows(found: dict) -> list[Row]:
    musts = {"published_to_quiet": "≤ 1.1", **COST_MUSTS.get(found["vendor"], {})}
    return [
        (figure, f"{median(found['ratios'][name]):.3f}", musts.get(name, NO_MUST))
        for figure, name in (
            ("utc_ns_unordered / bare counter", "unordered_to_counter"),
            ("utc_ns / clock_gettime(REALTIME)", "utc_to_realtime"),
            ("utc_interval / clock_gettime(REALTIME)", "interval_to_realtime"),
            ("published 1,000 times a second / quiet", "published_to_quiet"),
        )
    ]


def causality_rows(found: dict) -> list[Row]:
    ordered = [found[name] for name in ORDERED]
    violations, reads = (sum(row[key] for row in ordered) for key in ("violations", "reads"))
    reached = f"{violations} in {reads / 1e6:.0f} million"
    return [("causality violations, ordered reads", reached, "0")]


def torture_rows(found: list[dict]) -> list[Row]:
    late, backward, million = (
        sum(run[key] for run in found) for key in ("late", "backward", "million_reads")
    )
    reached = f"{backward} in {million} million ({late} late)"
    return [("backward steps of mono, 2 threads", reached, "0")]


def tracking_rows(found: dict) -> list[Row]:
    return [
        ("error against CLOCK_REALTIME, p50", f"{found['p50_ns']:.0f} ns", "≤ 10 ns"),
        ("the same, p99.9", f"{found['p999_ns']:.0f} ns", "≤ 50 ns"),
    ]


def rate_change_rows(found: dict) -> list[Row]:
    reached = f"{found['after_1_s_ns']:.1f} ns, overshoot {found['overshoot_ns']:.1f} ns"
    return [("1 s after a 400 ppm change of rate (simulated)", reached, "≤ 1 µs, none")]


def first_reading_rows(found: list[int]) -> list[Row]:
    reached = f"{median(found) / 1e3:.0f} / {max(found) / 1e3:.0f} µs"
    return [("first reading of a process, median / max", reached, "≤ 1 ms")]


def conversion_rows(found: float) -> list[Row]:
    return [("conversion error, 1 MHz to 5 GHz, 100 years", f"{found:.3f} ns", "≤ 2 ns")]


ROWS = {
    "cost": cost_rows,
    "causality": causality_rows,
    "torture": torture_rows,
    "tracking": tracking_rows,
    "rate_change": rate_change_rows,
    "first_reading_ns": first_reading_rows,
    "conversion_ns": conversion_rows,
}


def table(found: dict) -> list[Row]:
    return [row for name, rows in ROWS.items() if name in found for row in rows(found[name])]


def lines(found: dict) -> list[str]:
    """Of the parts that were measured."""
    return [
        record.heading(found["machine"], found["load_average"]),
        "",
        "| figure | reached | must |",
        "|---|---:|---:|",
        *(f"| {figure} | {reached} | {must} |" for figure, reached, must in table(found)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    record.add_options(parser, tuple(PARTS))
    options = parser.parse_args()
    load = os.getloadavg()[0]
    try:
        from timebase.api.counter import probe
        from timebase.api.machine import describe
    except ImportError:
        sys.exit("bench/goals.py: the Python package is missing: run it by `make goals`")
    found = {"machine": describe(probe()), "load_average": load}
    for name in options.only or PARTS:
        found[name] = PARTS[name](options.quick)
    text = lines(found)
    record.write(record.folder(options), "goals", text, found)
    print("\n".join(text))


if __name__ == "__main__":
    main()
