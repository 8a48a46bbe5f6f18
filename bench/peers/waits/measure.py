# SPDX-License-Identifier: MIT
"""Runs the driver, round by round, with cyclictest in between."""

import array
import os
import subprocess
import tempfile
from pathlib import Path

from launch import Broken, progress

from waits import cyclictest
from waits.build import DRIVER
from waits.catalogue import PERIOD_NS
from waits.rules import neighbour
from waits.summary import (
    ALL,
    QUIET,
    STOPWATCH,
    Cell,
    Chunk,
    cold_errors_ns,
    figures,
    instant_cost,
    quantile,
    quiet_level,
    row,
)

ROUNDS_A_SLICE = 4  # of the driver, to one of cyclictest
SHORT_NS = 1000  # chunks of these are so short that the core was as it was seen at both ends
LOOPS_A_ROUND = 100  # the driver's batch for a period


class Driver:
    """The driver's process, and what it said so far."""

    def __init__(self, cpu, rounds, folder):
        self.trials = Path(folder) / "trials"
        self.lines = []
        # DPDK makes a folder for files that it then does not need.
        environment = {**os.environ, "RUNTIME_DIRECTORY": str(folder)}
        self._command = [str(DRIVER), str(cpu), str(rounds), str(self.trials)]
        self._process = subprocess.Popen(
            self._command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def round(self):
        """One round of all cells."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line == "round\n":
                return
            self.lines.append(line.rstrip("\n"))
        raise self._broken()

    def finish(self):
        """Has it write its results."""
        self._process.stdin.close()
        self.lines.extend(self._process.stdout.read().splitlines())
        if self._process.wait() != 0:
            raise self._broken()

    def stop(self):
        """If it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _broken(self):
        return Broken(f"{' '.join(self._command)} ended with {self._process.wait()}")

    def said(self, word):
        """The rest of all lines that begin with this word."""
        return [line[len(word) + 1 :] for line in self.lines if line.startswith(word + " ")]


class Numbers:
    """The driver's file, read from its beginning."""

    def __init__(self, values):
        self._values, self._place = values, 0

    def take(self, count):
        """The next so many; zeros for those that are not there, which the end tells."""
        found = self._values[self._place : self._place + count].tolist()
        self._place += count
        return found + [0.0] * (count - len(found))

    def require_end(self):
        """All of them were spoken of, and were there."""
        if self._place != len(self._values):
            raise Broken(f"the driver wrote {len(self._values)} numbers and spoke of {self._place}")


def chunks_of(numbers, count, batch, chunk):
    """One for each trial: batches are cut into chunks, the last of which may be shorter."""
    sizes = [min(chunk, batch - done) for done in range(0, batch, chunk)] * (count // batch)
    for size in sizes:
        cycle, addition, cycle_after, addition_after = numbers.take(4)
        yield from [Chunk((cycle, addition), (cycle_after, addition_after))] * size


def cells_of(lines, trials):
    """The driver's cells; `trials` are all numbers that it wrote."""
    numbers, cells = Numbers(trials), []
    for line in lines:
        name, kind, *told = line.split()
        asked_ns, count, cpu_ns, wall_ns, skipped, batch, chunk = map(int, told)
        mine, costs = numbers.take(count), numbers.take(count if kind == "delay" else 0)
        chunks = tuple(chunks_of(numbers, count, batch, chunk))
        cells.append(Cell(name, kind, asked_ns, mine, costs, cpu_ns, wall_ns, skipped, chunks))
    numbers.require_end()
    return cells


def read_trials(path):
    """All doubles of the file."""
    trials = array.array("d")
    trials.frombytes(path.read_bytes())
    return trials


def run_rounds(driver, rounds, cpu, with_cyclictest):
    """All rounds; cyclictest's latencies, and why there are none."""
    latencies, reason = [], None if with_cyclictest else cyclictest.MISSING
    for number in range(rounds):
        progress(f"waits: round {number + 1} of {rounds}")
        driver.round()
        if reason is None and number % ROUNDS_A_SLICE == 0:
            realtime = "SCHED_FIFO" in driver.said("granted")
            loops = LOOPS_A_ROUND * min(ROUNDS_A_SLICE, rounds)
            try:
                latencies += cyclictest.sample(loops, cpu, realtime)
            except Broken as problem:
                reason = str(problem)
    return latencies, reason


def cyclictest_row(latencies):
    """Its figures as a row."""
    about = {"name": "cyclictest", "kind": "period", "asked_ns": PERIOD_NS}
    unknown = {"cpu_share": None, "busy_share": None, "clock_steps": None}
    return {**about, "subset": ALL, **figures(latencies), **unknown, "skipped": 0}


def results_of(driver, latencies):
    """What the driver said and wrote, as results."""
    facts = dict(fact.split() for fact in driver.said("fact"))
    cells = cells_of(driver.said("cell"), read_trials(driver.trials))
    rate, step = float(facts["ticks_per_ns"]), float(facts["step_ticks"])
    instant_ticks = instant_cost(cells, step)
    quiet = quiet_level(cells)
    rows = [
        found
        for cell in cells
        if cell.kind not in STOPWATCH
        for subset in (ALL, *([QUIET] if cell.asked_ns <= SHORT_NS else []))
        if (found := row(cell, instant_ticks, rate, quiet, subset))
    ]
    costs = [cost for cell in cells for cost in cell.costs]
    if latencies:
        rows.append(cyclictest_row(latencies))
    return {
        "stopwatch": {
            "fine": facts["fine"] == "1",
            "step_ns": step / rate,
            "bound_ns": float(facts["bound_ns"]),
            "uneven_share": float(facts["uneven_share"]),
            "delay_cost_ns": quantile(sorted(costs), 0.5) / rate,
            "instant_cost_ns": instant_ticks / rate,
            "after_1_ms": figures(cold_errors_ns(cells, rate)),
        },
        "counter_mhz": rate * 1000,
        "core": {"additions_per_cycle": quiet, "busy_below": neighbour.BUSY_BELOW},
        "granted": driver.said("granted"),
        "refused": driver.said("refused"),
        "rows": rows,
    }


def measure(rounds):
    """Everything but what was left out before: {..., "left_out": {title: reason}}."""
    cpu = max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="waits-") as folder:
        driver = Driver(cpu, rounds, folder)
        try:
            found = run_rounds(driver, rounds, cpu, cyclictest.problem() is None)
            latencies, reason = found
            driver.finish()
            results = results_of(driver, latencies)
        finally:
            driver.stop()
    left_out = dict(line.split(": ", 1) for line in driver.said("without"))
    if reason:
        left_out["cyclictest"] = reason
    return {**results, "cpu": cpu, "rounds": rounds, "left_out": left_out}
