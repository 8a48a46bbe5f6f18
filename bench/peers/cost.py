# SPDX-License-Identifier: MIT
"""Runs the driver and reads its lines."""

import os
import subprocess

from build import TARGET
from catalogue import CALLS
from launch import Broken


def driver_lines(rounds, calls, cpu, environment):
    """The driver's output as lists of words."""
    command = [str(TARGET / "driver"), str(rounds), str(calls), str(cpu)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Broken(f"{' '.join(command)} ended with {done.returncode}")
    return [line.split() for line in done.stdout.splitlines()]


def row(words, counter_ns):
    """One driver line as a row; the ratio is between medians of the same run."""
    _, name, least, median, p90, fell_back = words
    return {
        "name": name,
        "min_ns": float(least),
        "median_ns": float(median),
        "p90_ns": float(p90),
        "ratio_to_counter": round(float(median) / counter_ns, 3),
        "fell_back": fell_back == "1",
    }


def measure(rounds, calls, environment):
    """Cost of every call: {rows, tsc_mhz, cpu, rounds, calls_per_batch, batch_entry_ns}."""
    cpu = max(os.sched_getaffinity(0))
    lines = driver_lines(rounds, calls, cpu, environment)
    peers = {words[1]: words for words in lines if len(words) == 6}
    if set(peers) != {call.name for call in CALLS}:
        odd = set(peers) ^ {call.name for call in CALLS}
        raise Broken(f"catalogue.py and the libraries disagree about: {', '.join(sorted(odd))}")
    counter_ns = float(peers["counter"][3])
    rows = []
    for call in CALLS:
        about = {
            "language": call.language,
            "call": call.call,
            "gives": call.gives,
            "ordered": call.ordered,
        }
        rows.append({**row(peers[call.name], counter_ns), **about})
    return {
        "rows": rows,
        "tsc_mhz": next(float(words[1]) for words in lines if words[0] == "tsc_mhz"),
        "cpu": cpu,
        "rounds": rounds,
        "calls_per_batch": calls,
        "batch_entry_ns": {words[1]: float(words[2]) for words in lines if words[0] == "entry"},
    }
