# SPDX-License-Identifier: MIT
"""The figures of bench/trust.py on reading a shared page: cost, order, and a writer that dies."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from trust_stand import (
    LIBRARY,
    PATIENCE_SEC,
    PUBLISHER,
    ROOT,
    Failed,
    attach,
    folder,
    is_fresh,
    published_page,
    require,
    row,
    say,
    start_daemon,
    wait_for,
)


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
FIRST_READING_C = Path(__file__).resolve().parent / "trust/first_reading.c"


def _built(source: Path, folder: str) -> Path:
    program = Path(folder) / source.stem
    options = (f"-I{ROOT / 'include'}", f"-L{LIBRARY.parent}", f"-Wl,-rpath,{LIBRARY.parent}")
    subprocess.run(["cc", "-O2", *options, "-o", program, source, "-ltimebase"], check=True)
    return program


def _print_number(command: list) -> int:
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


def first_reading(quick: bool) -> list[dict]:
    """The first two calls into the library, in new processes, of C and of Python by turns."""
    require(LIBRARY)
    with published_page(600) as (path, _), tempfile.TemporaryDirectory() as folder:
        attach(path)
        program = [_built(FIRST_READING_C, folder), path]
        script = [sys.executable, "-c", FIRST_READING, path]
        both = [(_print_number(program), _print_number(script)) for _ in range(5 if quick else 100)]
    of_c, of_python = zip(*both, strict=True)
    reached_us = median(of_c) / 1000
    return [
        row(
            "attach to first reading in a C program, median / max",
            "≤ 100 µs",
            f"{reached_us:.0f} / {max(of_c) / 1000:.0f} µs",
            reached_us <= 100,
            samples_ns=list(of_c),
        ),
        row(
            "attach to first reading in Python, by turns with it, median / max",
            "",
            f"{median(of_python) / 1000:.0f} / {max(of_python) / 1000:.0f} µs",
            None,
            samples_ns=list(of_python),
        ),
    ]
