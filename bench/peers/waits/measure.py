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
from waits.summary import STOPWATCH, Cell, cold_errors_ns, figures, instant_cost, quantile, row

ROUNDS_A_SLICE = 4  # of the driver, to one of cyclictest
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


def cells_of(lines, trials):
    """The driver's cells; `trials` are all of them in one row."""
    place, cells = 0, []
    for line in lines:
        name, kind, *numbers = line.split()
        asked_ns, count, cpu_ns, wall_ns, skipped = map(int, numbers)
        costs = count if kind == "delay" else 0
        mine = trials[place : place + count + costs].tolist()
        place += count + costs
        cells.append(
            Cell(name, kind, asked_ns, mine[:count], mine[count:], cpu_ns, wall_ns, skipped)
        )
    if place != len(trials):
        raise Broken(f"the driver wrote {len(trials)} numbers and spoke of {place}")
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
    return {**about, **figures(latencies), "cpu_share": None, "skipped": 0}


def results_of(driver, latencies):
    """What the driver said and wrote, as results."""
    facts = dict(fact.split() for fact in driver.said("fact"))
    cells = cells_of(driver.said("cell"), read_trials(driver.trials))
    rate, step = float(facts["ticks_per_ns"]), float(facts["step_ticks"])
    instant_ticks = instant_cost(cells, step)
    rows = [row(cell, instant_ticks, rate) for cell in cells if cell.kind not in STOPWATCH]
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
