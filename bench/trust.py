#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The goal figures of trust: `make trust-goals`, on a quiet machine; half an hour.

Writes bench/results/trust.md, and trust.json with the numbers, date and load of each figure beside
it. A figure that cannot be taken here says what is missing; none is made up.
"""

from __future__ import annotations

import argparse
import mmap
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import record

ROOT = record.ROOT
DAEMON = ROOT / "build/native/daemon/timebased"
PUBLISHER = ROOT / "build/native/tests/interleave/interleave_page_processes"
PATIENCE_SEC = 10  # with a daemon that starts; then it has failed
NS_PER_SEC = 1_000_000_000
HOUR_SEC = 3600
old_ticks_sec = HOUR_SEC  # --seconds: less, for those who cannot wait, does not meet the goal


class Missing(Exception):
    """What this figure needs and this tree or machine does not have."""


class Failed(Exception):
    """All was there, and it did not do what it must."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def row(name: str, must: str, reached: str, met: bool, **details) -> dict:
    return {"name": name, "must": must, "reached": reached, "met": met, **details}


# What the figures stand on


def require(*paths: Path) -> None:
    for path in paths:
        if not path.exists():
            raise Missing(str(path.relative_to(ROOT)))


def attach(path: Path):
    from timebase import Clock

    if not hasattr(Clock, "attach"):
        raise Missing("Clock.attach in the installed package (make venv)")
    return Clock.attach(str(path))


@contextmanager
def folder():
    """On a tmpfs if there is one, as /run is, and where a page is trusted: nobody else writes."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="timebase-trust-", dir=place) as name:
        yield Path(name)


@contextmanager
def published_page(seconds: float):
    """A page that is published 10,000 times a second, by a process that keeps the lease."""
    require(PUBLISHER)
    with folder() as where:
        command = [PUBLISHER, "--publish", where / "page", str(seconds)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            if writer.stdout.readline() != "publishing\n":
                raise Failed(f"{PUBLISHER.name} ended with {writer.wait()}")
            yield where / "page", writer
        finally:
            writer.kill()
            writer.wait()


def start_daemon(
    where: Path, reference: str = "kernel", timeline: str = "none"
) -> subprocess.Popen:
    """Flags are the keys of its configuration."""
    require(DAEMON)
    flags = {
        "page": where / "page",
        "reference": reference,
        "timeline": timeline,
        "metrics": where / "metrics.prom",
    }
    with open(where / "log", "a") as log:
        return subprocess.Popen(
            [DAEMON, *(f"--{key}={value}" for key, value in flags.items())], stdout=log, stderr=log
        )


def stop(daemon: subprocess.Popen) -> None:
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(PATIENCE_SEC)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def wait_for(where: Path, daemon: subprocess.Popen, wanted) -> None:
    """Until wanted(page, instant); the daemon's log if that never comes."""
    from timebase.status.file import Refused
    from timebase.status.page import read_page

    end = time.monotonic() + PATIENCE_SEC
    while time.monotonic() < end and daemon.poll() is None:
        try:
            shared = read_page(where / "page")
            if wanted(shared, shared.now()):
                return
        except Refused:
            pass
        time.sleep(0.001)
    last = (where / "log").read_text().strip().splitlines()[-1:]
    raise Failed(f"the daemon did not get there in {PATIENCE_SEC} s; its log ends: {last}")


def is_fresh(shared, instant) -> bool:
    return shared.age_ns(instant) < NS_PER_SEC


def is_synchronized(shared, instant) -> bool:
    return is_fresh(shared, instant) and instant.status.name == "SYNCHRONIZED"


# The figures


def read_with_bound(quick: bool) -> list[dict]:
    """utc_interval of an attached clock, beside clock_gettime in the same rounds."""
    from timebase.api.library import ffi, lib
    from timebase.bench import cost

    ratios = []
    with published_page(600) as (path, _):
        clock = attach(path)
        lib.timebase_bench_use_clock(clock._clock)
        try:
            for _ in range(2 if quick else 5):
                rows = {r["name"]: r["median_ns"] for r in cost.run(60 if quick else 300)["rows"]}
                ratios.append(rows["utc_interval"] / rows["clock_gettime_realtime"])
        finally:
            lib.timebase_bench_use_clock(ffi.NULL)
    reached = median(ratios)
    name = "shared read with bound / clock_gettime(REALTIME)"
    return [row(name, "≤ 1.0", f"{reached:.3f}", reached <= 1.0, ratios=ratios)]


MAPPED = re.compile(
    r"(\d+) reads by 2 processes, (\d+) publications \((\d+) a second\), (\d+) late, (\d+) torn, "
    r"(\d+) backward .* (\d+) without a line"
)
MAPPED_KEYS = ("reads", "publications", "per_second", "late", "torn", "backward", "without_a_line")


def mapped_reads(quick: bool) -> list[dict]:
    """The inline reading code on the mapped file itself: the page's protocol between processes."""
    require(PUBLISHER)
    reads = 20_000_000 if quick else 1_000_000_000
    environment = {**os.environ, "TIMEBASE_TEST_READS": str(reads)}
    done = subprocess.run([PUBLISHER], capture_output=True, text=True, env=environment, check=False)
    found = MAPPED.search(done.stdout)
    if found is None:
        raise Failed(f"{PUBLISHER.name}: {done.stdout[-200:]}{done.stderr[-200:]}")
    counts = dict(zip(MAPPED_KEYS, map(int, found.groups())))
    return [
        row(
            "the page, mapped: reads by 2 processes, writer at 10,000 a second",
            "0 torn, 0 backward in 10⁹",
            f"{counts['torn']} torn, {counts['backward']} backward in {counts['reads']:,} "
            f"({counts['per_second']:,} publications a second, {counts['late']} late)",
            not quick and counts["torn"] == counts["backward"] == 0,
            **counts,
        )
    ]


class Readers:
    """Processes that read an attached clock each, and hand each other their readings."""

    def __init__(self, path: Path, count: int, reads_each: int):
        self._context = multiprocessing.get_context("fork")
        self._words = mmap.mmap(-1, mmap.PAGESIZE)
        self._stop = self._context.Event()
        self._results = self._context.Queue()
        self._reads, self._path = reads_each, path
        self._processes = [
            self._context.Process(target=self._run, args=(index, (index + 1) % count))
            for index in range(count)
        ]

    def _run(self, own: int, other: int) -> None:
        from timebase.api.library import ffi, lib

        words = ffi.cast("int64_t *", ffi.from_buffer(self._words))
        out = ffi.new("struct timebase_bench_sharing *")
        clock = attach(self._path)
        while not self._stop.is_set() and out.reads < self._reads:
            left = self._reads - out.reads
            # 16 words apart: each on cache lines of its own
            lib.timebase_bench_share(
                clock._clock, words + 16 * own, words + 16 * other, left, 20_000_000, out
            )
        self._results.put({name: getattr(out, name) for name, _ in ffi.typeof(out[0]).fields})

    def start(self) -> None:
        for process in self._processes:
            process.start()

    def results(self, stop: bool, patience_sec: float) -> list[dict]:
        """Failed if a process never answers: a hung read."""
        import queue

        if stop:
            self._stop.set()
        try:
            return [self._results.get(timeout=patience_sec) for _ in self._processes]
        except queue.Empty:
            for process in self._processes:
                process.kill()
            raise Failed("a reader hangs or has died") from None


def attached_reads(quick: bool) -> list[dict]:
    reads = 20_000_000 if quick else 1_000_000_000
    with published_page(3600) as (path, _):
        attach(path)
        readers = Readers(path, 2, reads // 2)
        readers.start()
        found = readers.results(stop=False, patience_sec=3600)
    total = {key: sum(one[key] for one in found) for key in found[0]}
    return [
        row(
            "attached clocks: reads by 2 processes, writer at 10,000 a second",
            "0 torn, 0 backward in 10⁹",
            f"{total['outside']} outside their bound, {total['backward']} backward in "
            f"{total['reads']:,}",
            not quick and total["backward"] == total["outside"] == 0,
            **total,
        )
    ]


def killed_daemon(quick: bool) -> list[dict]:
    """kill -9 at a random instant, look, start again; two readers all the while."""
    kills, shrunk = 20 if quick else 1000, 0
    with folder() as where:
        daemon = start_daemon(where)
        wait_for(where, daemon, is_fresh)
        clock, readers = attach(where / "page"), Readers(where / "page", 2, 1 << 62)
        readers.start()
        try:
            for number in range(kills):
                time.sleep(random.uniform(0, 0.3))
                daemon.kill()
                daemon.wait()
                shrunk += not _bound_grows(clock)
                daemon = start_daemon(where)
                wait_for(where, daemon, is_fresh)
                if number % 100 == 99:
                    say(f"  {number + 1} kills")
        finally:
            daemon.kill()
            found = readers.results(stop=True, patience_sec=PATIENCE_SEC)
    total = {key: sum(one[key] for one in found) for key in found[0]}
    longest_ms = max(one["longest_ns"] for one in found) / 1e6
    is_good = total["backward"] == total["outside"] == shrunk == 0
    return [
        row(
            f"kill -9 of the daemon, {kills:,} times, 2 readers",
            "0 torn, 0 backward, 0 hung reads, bound always grows (1,000 times)",
            f"{total['outside']} outside their bound, {total['backward']} backward in "
            f"{total['reads']:,}; 0 hung (1,024 reads took {longest_ms:.1f} ms at most); bound "
            f"shrank without a daemon {shrunk} times",
            not quick and is_good,
            kills=kills,
            bound_shrank=shrunk,
            **{**total, "longest_ns": max(one["longest_ns"] for one in found)},
        )
    ]


def _bound_grows(clock) -> bool:
    """Nobody publishes. The lines that were published last may still hand over, within the
    daemon's interval; after that a bound can only grow."""
    time.sleep(0.3)
    seen = []
    for _ in range(5):
        seen.append(clock.now().maxerror_ns)
        time.sleep(0.002)
    return seen == sorted(seen) and seen[0] < seen[-1]


FIRST_READING = """
import sys, time
from timebase.api.library import ffi, lib
clock, path = ffi.new("timebase_clock **"), sys.argv[1].encode()
attach, read = lib.timebase_clock_attach, lib.timebase_utc_ns  # cffi looks names up once
start = time.perf_counter_ns()
result = attach(clock, path)
read(clock[0])
print(time.perf_counter_ns() - start)
sys.exit(result != 0)
"""


def first_reading(quick: bool) -> list[dict]:
    """The first two calls into the library, in new processes."""
    with published_page(600) as (path, _):
        attach(path)
        command = [sys.executable, "-c", FIRST_READING, str(path)]
        samples = [
            int(subprocess.run(command, capture_output=True, check=True).stdout)
            for _ in range(5 if quick else 50)
        ]
    reached_us = median(samples) / 1000
    return [
        row(
            "attach to first reading, median / max",
            "≤ 100 µs",
            f"{reached_us:.0f} / {max(samples) / 1000:.0f} µs",
            reached_us <= 100,
            samples_ns=samples,
        )
    ]


def daemon_resources(quick: bool) -> list[dict]:
    seconds = 5 if quick else 60
    with folder() as where:
        daemon = start_daemon(where)
        try:
            wait_for(where, daemon, is_fresh)
            before = _cpu_ns(daemon.pid)
            time.sleep(seconds)
            used = (_cpu_ns(daemon.pid) - before) / (seconds * NS_PER_SEC)
            resident_kib = _status(daemon.pid, "VmRSS")
            most_kib = _status(daemon.pid, "VmHWM")
        finally:
            stop(daemon)
    return [
        row(f"daemon CPU over {seconds} s", "≤ 0.1 %", f"{used:.3%}", used <= 0.001, share=used),
        row(
            "daemon resident memory, now / peak",
            "≤ 4 MiB",
            f"{resident_kib / 1024:.2f} / {most_kib / 1024:.2f} MiB",
            most_kib <= 4096,
            resident_kib=resident_kib,
            most_kib=most_kib,
        ),
    ]


def _cpu_ns(pid: int) -> int:
    """On the CPU since its start, of all threads: the scheduler's own count, in ns."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


def _status(pid: int, name: str) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE).group(1))


@contextmanager
def chronyd():
    """A chronyd that follows another one, on this host's clock that neither touches (-x); gives
    its command port."""
    sys.path.insert(0, str(ROOT / "tests/chrony"))
    import pair

    if pair.CHRONYD is None or pair.CHRONYC is None:
        raise Missing("chrony (apt install chrony)")
    with tempfile.TemporaryDirectory(prefix="timebase-trust-") as where:
        with pair.follower(where, pair.QUICK, pair.QUICK) as port:
            end = time.monotonic() + PATIENCE_SEC
            while not (pair.ask(port, "-c") or "").strip().endswith("Normal"):
                if time.monotonic() > end:
                    raise Missing("a chronyd that says it is synchronised: it never did")
                time.sleep(0.05)
            yield port


def start_synchronized(quick: bool) -> list[dict]:
    require(DAEMON)
    times = []
    with chronyd() as port:
        for _ in range(2 if quick else 10):
            with folder() as where:
                begin = time.monotonic()
                daemon = start_daemon(where, f"chrony:127.0.0.1:{port}")
                try:
                    wait_for(where, daemon, is_synchronized)
                    times.append(time.monotonic() - begin)
                finally:
                    stop(daemon)
    return [
        row(
            "daemon start to a SYNCHRONIZED page, with a synchronised chrony, worst",
            "≤ 1 s",
            f"{max(times):.2f} s",
            max(times) <= 1,
            seconds=times,
        )
    ]


def old_ticks(quick: bool) -> list[dict]:
    """Ticks as an attached clock converted them at once, and as the timeline does later."""
    try:
        from timebase.api.timeline import Timeline
    except ImportError:
        raise Missing("timebase.api.timeline in the installed package (make venv)") from None
    seconds, told = 5 if quick else old_ticks_sec, []
    with folder() as where:
        daemon = start_daemon(where, timeline=str(where / "timeline"))
        try:
            wait_for(where, daemon, is_fresh)
            clock, end = attach(where / "page"), time.monotonic() + seconds
            while time.monotonic() < end:
                told.append(clock.now())
                time.sleep(random.uniform(0, seconds / 1000))
            time.sleep(1)  # what the last ticks mean is decided by the next publication
        finally:
            stop(daemon)
        with Timeline(str(where / "timeline")) as timeline:
            apart = [abs(timeline.at(one.ticks).utc_ns - one.utc_ns) for one in told]
    return [
        row(
            f"conversion of ticks up to {seconds / HOUR_SEC:.2g} h old, against what was returned",
            "identical (1 h)",
            f"{sum(map(bool, apart))} of {len(apart):,} differ, by {max(apart)} ns at most",
            seconds >= HOUR_SEC and not any(apart),
            ticks=len(apart),
            differ=sum(map(bool, apart)),
        )
    ]


def contains_truth(quick: bool) -> list[dict]:
    """Two chronyd and a delaying proxy, true offset 0: what `make chrony` measures."""
    import chrony

    if chrony.pair.CHRONYD is None or chrony.pair.CHRONYC is None:
        raise Missing("chrony (apt install chrony)")
    require(chrony.PROBE)
    polls = chrony.QUICK_POLLS if quick else chrony.POLLS
    try:
        networks = chrony.measure_all(polls, seed=1).values()
    except subprocess.CalledProcessError as problem:
        raise Failed(f"{chrony.PROBE.name} ended with {problem.returncode}") from None
    ratios = [ratio for found in networks for ratio in chrony.ratios(found["claims"])]
    if not ratios:
        raise Failed("chronyd was never synchronised")
    contained, largest = sum(ratio <= 1 for ratio in ratios), max(ratios)
    return [
        row(
            "bound contains truth, real chronyd through an asymmetric proxy",
            "every poll; max ratio ≥ 0.5",
            f"{contained} of {len(ratios)} polls; max ratio {largest:.2f}",
            not quick and 0.5 <= largest <= 1,
            polls=len(ratios),
            contained=contained,
            max_ratio=largest,
        )
    ]


def fuzzers(quick: bool) -> list[dict]:
    script = ROOT / "scripts/fuzz"
    require(script)
    seconds = 2 if quick else 300
    done = subprocess.run([script, str(seconds)], capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).strip().splitlines()
    failed = [
        line.removeprefix("FAIL").split(":")[0].strip() for line in said if line[:4] == "FAIL"
    ]
    return [
        row(
            f"fuzzers, {seconds} s each, with sanitizers",
            "0 findings in 300 s",
            "0 findings" if done.returncode == 0 else f"failed: {', '.join(failed) or said[-1:]}",
            not quick and done.returncode == 0,
        )
    ]


FIGURES = {
    "contains_truth": contains_truth,
    "killed_daemon": killed_daemon,
    "read_with_bound": read_with_bound,
    "mapped_reads": mapped_reads,
    "attached_reads": attached_reads,
    "first_reading": first_reading,
    "daemon_resources": daemon_resources,
    "start_synchronized": start_synchronized,
    "old_ticks": old_ticks,
    "fuzzers": fuzzers,
}


def take(name: str, quick: bool) -> dict:
    """{"missing": None, "rows": [...]}, or what is missing and no rows."""
    say(name.replace("_", " "))
    started = time.monotonic()
    try:
        rows, missing = FIGURES[name](quick), None
    except Missing as problem:
        rows, missing = [], str(problem)
        say(f"  missing: {missing}")
    except Failed as problem:
        rows, missing = [row(name.replace("_", " "), "", f"failed: {problem}", False)], None
        say(f"  failed: {problem}")
    return {
        "missing": missing,
        "quick": quick,
        "seconds": round(time.monotonic() - started, 1),
        "load_average": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d"),
        "rows": rows,
    }


def table(found: dict) -> list[str]:
    lines = ["| figure | reached | must | |", "|---|---:|---:|---|"]
    for name in FIGURES:
        taken = found["figures"].get(name)
        if taken is None or taken["missing"]:
            why = "not taken" if taken is None else taken["missing"]
            lines.append(f"| {name.replace('_', ' ')} | missing: {why} | | |")
            continue
        quick = " (quick: not for the record)" if taken["quick"] else ""
        for one in taken["rows"]:
            met = "" if taken["quick"] else "yes" if one["met"] else "**no**"
            lines.append(f"| {one['name']}{quick} | {one['reached']} | {one['must']} | {met} |")
    return lines


def lines(found: dict) -> list[str]:
    return [record.heading(found["machine"], found["load_average"]), "", *table(found)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    record.add_options(parser, tuple(FIGURES))
    parser.add_argument(
        "--seconds", type=int, default=HOUR_SEC, help="how old the old ticks become"
    )
    options = parser.parse_args()
    global old_ticks_sec
    old_ticks_sec = options.seconds
    try:
        from timebase.api.counter import probe
        from timebase.api.machine import describe
    except ImportError:
        sys.exit("bench/trust.py: the Python package is missing: run it by `make trust-goals`")
    found = {"machine": describe(probe()), "load_average": os.getloadavg()[0], "figures": {}}
    for name in options.only or FIGURES:
        found["figures"][name] = take(name, options.quick)
        # Each time: an hour's work is not to be lost.
        record.write(record.folder(options), "trust", lines(found), found)
    print("\n".join(lines(found)))
    sys.exit(0 if all_met(found) else 1)


def all_met(found: dict) -> bool:
    """Every figure taken, in full, and as good as it must be."""
    taken = [found["figures"].get(name) for name in FIGURES]
    return all(
        figure and not figure["missing"] and all(one["met"] for one in figure["rows"])
        for figure in taken
    )


if __name__ == "__main__":
    main()
