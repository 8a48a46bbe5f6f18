# SPDX-License-Identifier: MIT
"""Runs probes: fresh processes that take one clock's first reading, or its error."""

import os
import statistics
import subprocess
import sys
import time

from build import TARGET
from catalogue import CLOCKS, EMPTY


class Broken(Exception):
    """A program of the measurement failed, or said something that was not agreed."""


def progress(text):
    """Progress goes to stderr: stdout is for results."""
    print(text, file=sys.stderr, flush=True)


def read_to_end(descriptor):
    """All that comes until the other side closes."""
    with os.fdopen(descriptor, "r", encoding="ascii") as stream:
        return stream.read()


def start_once(probe, environment):
    """ns from just before exec to the first reading, and whether the peer fell back.

    Both instants are of CLOCK_MONOTONIC, which is the same in every process."""
    program, clock = str(TARGET / probe[0]), probe[1]
    reader, writer = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, writer, 1)]
    began_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    child = os.posix_spawn(program, [program, clock, "start"], environment, file_actions=actions)
    os.close(writer)
    text = read_to_end(reader)
    if os.waitpid(child, 0)[1] != 0:
        raise Broken(f"{program} {clock} start failed")
    first_ns, fell_back = map(int, text.split())
    return first_ns - began_ns, bool(fell_back)


def start_all(launches, environment):
    """{probe: [(ns, fell back)...]}; a launch of each in turn, so that a bad moment hits all."""
    taken = {probe: [] for probe in (*EMPTY.values(), *(clock.probe for clock in CLOCKS))}
    for launch in range(launches + 1):
        progress(f"start-up: launch {launch} of {launches}")
        for probe, results in taken.items():
            results.append(start_once(probe, environment))
    # Launch 0 brought the programs in from disk and does not count.
    return {probe: results[1:] for probe, results in taken.items()}


def startup_row(taken, empty_ns):
    """Start-up of one clock, less an empty program's, and how many launches fell back."""
    times = [ns for ns, _ in taken]
    return {
        "startup_median_ns": statistics.median(times) - empty_ns,
        "startup_max_ns": max(times) - empty_ns,
        "startup_fell_back": sum(fell_back for _, fell_back in taken),
    }


def startups(launches, environment):
    """Start-up rows by clock, and the median ns of each language's empty program."""
    taken = start_all(launches, environment)
    empty = {
        language: statistics.median(ns for ns, _ in taken[probe])
        for language, probe in EMPTY.items()
    }
    rows = {clock.name: startup_row(taken[clock.probe], empty[clock.language]) for clock in CLOCKS}
    return rows, empty


def start_error_probe(clock, marks, environment):
    """Starts the probe and waits for its first reading: calibrations must not overlap."""
    command = [str(TARGET / clock.probe[0]), clock.probe[1], "error", *map(str, marks)]
    probe = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    word, _, fell_back = probe.stdout.readline().partition(" ")
    if word != "ready":
        raise Broken(f"{' '.join(command)}: no first reading")
    return probe, bool(int(fell_back))


def error_rows(clock, probe, marks):
    """The probe's lines, once it has ended."""
    lines = probe.stdout.read().splitlines()
    if probe.wait() != 0 or len(lines) != len(marks):
        raise Broken(f"the error probe of {clock.name} failed")
    rows = [tuple(map(int, line.split())) for line in lines]
    return [
        {"after_s": after, "error_ns": error, "width_ns": width} for after, error, width in rows
    ]


def errors(marks, environment):
    """Error of every clock that has one, at each mark (s), all clocks running side by side."""
    running = []
    try:
        for clock in (each for each in CLOCKS if each.has_error):
            progress(f"error: starting {clock.name}")
            running.append((clock, *start_error_probe(clock, marks, environment)))
        progress(f"error: waiting {marks[-1]} s")
        return {
            clock.name: {"errors": error_rows(clock, probe, marks), "error_fell_back": fell}
            for clock, probe, fell in running
        }
    finally:
        for _, probe, _ in running:
            if probe.poll() is None:
                probe.kill()
