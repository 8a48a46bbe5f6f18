#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the bound of the source `chrony` contain the truth? `make chrony`, some minutes.

Two chronyd -x on this machine's clock, with a bad network between them (tests/chrony/pair.py): the
true offset is exactly 0. Each claim of the library is compared with it, and chronyd's own bound
(|system time| within root delay / 2 + root dispersion) beside it. Writes bench/results/chrony.md, and
chrony.json with all claims beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "chrony"))
import record

import pair

PROBE = ROOT / "build" / "native" / "tests" / "source_probe"
POLLS, QUICK_POLLS = 400, 20  # claims in each network
NETWORKS = [
    ("1 ms there, 20 ms back, jitter 3 ms", pair.QUICK, pair.SLOW),
    ("20 ms there, jitter 3 ms, 1 ms back", pair.SLOW, pair.QUICK),
    ("1 ms there, 1 ms back, jitter 0.5 ms", pair.QUICK, pair.QUICK),
]


def chrony_alone(line: str) -> dict | None:
    """What chronyd itself would promise, by its manual."""
    fields = line.strip().split(",")
    if len(fields) != 14 or fields[13] == "Not synchronised":
        return None
    error = float(fields[10]) / 2 + float(fields[11])
    return {"offset_ns": round(-float(fields[4]) * 1e9), "error_ns": round(error * 1e9)}


def watch_chrony(port: int, done: threading.Event, seen: list) -> None:
    while not done.wait(0.1):
        line = pair.ask(port, "-c")
        answer = chrony_alone(line) if line else None
        if answer:
            seen.append(answer)


def measure(up: pair.Way, down: pair.Way, polls: int, seed: int) -> dict:
    done, alone = threading.Event(), []
    with tempfile.TemporaryDirectory() as folder, pair.follower(folder, up, down, seed) as port:
        watcher = threading.Thread(target=watch_chrony, args=(port, done, alone))
        watcher.start()
        source = f"chrony:127.0.0.1:{port},interval=100ms"
        try:
            run = subprocess.run(
                [PROBE, source, str(polls), "20"], stdout=subprocess.PIPE, text=True, check=True
            )
        finally:
            done.set()
            watcher.join()
    claims = [json.loads(line) for line in run.stdout.splitlines()]
    failures = [claim for claim in claims if "error" in claim]
    ours = [claim for claim in claims if claim.get("is_synchronized")]
    return {"claims": ours, "failures": failures, "chrony_alone": alone}


def ratios(claims: list) -> list:
    return sorted(abs(claim["offset_ns"]) / claim["error_ns"] for claim in claims)


def row(name: str, who: str, claims: list) -> str:
    shares = ratios(claims)
    inside = sum(share <= 1 for share in shares)
    middle = shares[len(shares) // 2]
    widths = sorted(claim["error_ns"] for claim in claims)
    return (
        f"| {name} | {who} | {inside} of {len(shares)} | {shares[-1]:.2f} | {middle:.2f} "
        f"| {widths[len(widths) // 2] / 1e6:.2f} ms |"
    )


def measure_all(polls: int, seed: int) -> dict:
    """What each network gave, by its name."""
    results = {}
    for name, up, down in NETWORKS:
        results[name] = measure(up, down, polls, seed)
        print(name, file=sys.stderr, flush=True)
    return results


def lines_of(results: dict, head: str) -> list[str]:
    lines = [
        head,
        "",
        "The true offset is exactly 0. Ratio: error / bound.",
        "",
        "| network | bound | inside | largest ratio | median ratio | median bound |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, found in results.items():
        lines.append(row(name, "timebase", found["claims"]))
        lines.append(row(name, "chrony's own", found["chrony_alone"]))
    return lines


def heading(load: float) -> str:
    version = subprocess.run(
        [pair.CHRONYD, "--version"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split(" (+")[0]
    return (
        f"{version}, {platform.system()} {platform.release()}, {platform.machine()}, "
        f"load {load:.2f} at the start, {time.strftime('%Y-%m-%d')}, commit {record.commit()}."
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    record.add_options(parser, parts=())
    parser.add_argument("--seed", type=int, default=1, help="of the network's jitter")
    options = parser.parse_args()
    if pair.CHRONYD is None or pair.CHRONYC is None:
        print("bench/chrony.py: no chrony here; scripts/setup chrony installs it")
        return 77
    head = heading(os.getloadavg()[0])
    results = measure_all(QUICK_POLLS if options.quick else POLLS, options.seed)
    text = lines_of(results, head)
    document = {"about": head, "seed": options.seed, "networks": results}
    record.write(record.folder(options), "chrony", text, document)
    print("\n".join(text))
    return 0 if all(ratios(found["claims"])[-1] <= 1 for found in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
