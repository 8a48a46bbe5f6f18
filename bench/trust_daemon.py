# SPDX-License-Identifier: MIT
"""The figures of bench/trust.py on the daemon: what it takes, what it promises, what it keeps."""

from __future__ import annotations

import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from trust_stand import (
    DAEMON,
    NS_PER_SEC,
    PATIENCE_SEC,
    ROOT,
    Failed,
    Missing,
    attach,
    folder,
    is_fresh,
    is_synchronized,
    require,
    row,
    start_daemon,
    stop,
    wait_for,
)

HOUR_SEC = 3600
old_ticks_sec = HOUR_SEC  # --seconds: less is a trial, which replaces no recorded figure


def is_trial() -> bool:
    """Whether the old ticks are younger than the goal says."""
    return old_ticks_sec < HOUR_SEC


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


def _seconds_to_synchronized(port: int, never_moved: str) -> float:
    with folder() as where:
        begin = time.monotonic()
        daemon = start_daemon(where, f"chrony:127.0.0.1:{port}", never_moved=never_moved)
        try:
            wait_for(where, daemon, is_synchronized)
            return time.monotonic() - begin
        finally:
            stop(daemon)


def start_synchronized(quick: bool) -> list[dict]:
    """A guest of which nothing tells what befell it before the daemon began is believed only once
    chrony has measured since: that takes as long as chrony's poll, a second here."""
    require(DAEMON)
    times = {"yes": [], "no": []}
    with chronyd() as port:
        for _ in range(2 if quick else 10):
            for never_moved, taken in times.items():
                taken.append(_seconds_to_synchronized(port, never_moved))
    what = "daemon start to a SYNCHRONIZED page, with a synchronised chrony"
    known, unknown = times["yes"], times["no"]
    return [
        row(
            f"{what}, never_moved = yes, worst",
            "≤ 1 s",
            f"{max(known):.2f} s",
            max(known) <= 1,
            seconds=known,
        ),
        row(
            f"{what} that polls each second, in a guest that may have been moved, median / worst",
            "",
            f"{statistics.median(unknown):.2f} / {max(unknown):.2f} s",
            None,
            seconds=unknown,
        ),
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
