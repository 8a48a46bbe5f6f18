# SPDX-License-Identifier: MIT
"""What the figures of bench/trust.py stand on: pages, daemons, and how a figure is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import record

ROOT = record.ROOT
DAEMON = ROOT / "build/native/daemon/timebased"
LIBRARY = ROOT / "build/native/libtimebase.so"
PUBLISHER = ROOT / "build/native/tests/interleave/interleave_page_processes"
PATIENCE_SEC = 10  # with a daemon that starts; then it has failed
NS_PER_SEC = 1_000_000_000


class Missing(Exception):
    """What this figure needs and this tree or machine does not have."""


class Failed(Exception):
    """All was there, and it did not do what it must."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def row(name: str, must: str, reached: str, met: bool | None, **details) -> dict:
    return {"name": name, "must": must, "reached": reached, "met": met, **details}


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
    where: Path, reference: str = "kernel", timeline: str = "none", never_moved: str = "no"
) -> subprocess.Popen:
    """Flags are the keys of its configuration."""
    require(DAEMON)
    flags = {
        "page": where / "page",
        "reference": reference,
        "timeline": timeline,
        "never-moved": never_moved,
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
