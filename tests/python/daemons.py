# SPDX-License-Identifier: MIT
"""A timebased of the test's own: started, watched, ended. And a reader of its page."""

import os
import re
import signal
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("TIMEBASED", ROOT / "build/native/daemon/timebased"))

MAGIC = 0x47504254

# Hours for what takes milliseconds: no machine is so slow. scripts/watchdog is sooner, where it runs.
PATIENCE_S = 4 * 3600

needs_program = pytest.mark.skipif(
    not PROGRAM.exists(), reason=f"no {PROGRAM}: build it (make native) or set TIMEBASED"
)


def eventually(condition, what):
    """Waits until condition() is true, and returns what it gave."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.01)
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")


@dataclass
class Page:
    """What the tests look at of the 640 bytes; spec/page.md."""

    seq: int
    magic: int
    status: int
    utc_maxerror_ns: int
    late_count: int

    @staticmethod
    def read(path):
        """The page, or None while there is none."""
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError:
            return None
        if len(data) != 640:
            return None
        seq, _, magic = struct.unpack_from("=QQI", data)
        late_count = struct.unpack_from("=Q", data, 48)[0]
        after = 128 + 256 * (seq & 1) + 128
        flags = struct.unpack_from("=I", data, after + 36)[0]
        utc_maxerror_ns = struct.unpack_from("=Q", data, after + 56)[0]
        return Page(seq, magic, flags & 15, utc_maxerror_ns, late_count)


class Daemon:
    def __init__(self, folder, *arguments, environment=None, prefix=()):
        self.page = folder / "run" / "page"
        self.log_path = folder / "log"
        self.log_file = self.log_path.open("ab")
        command = [*prefix, str(PROGRAM), f"--page={self.page}", "--config=/dev/null", *arguments]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self.log_file,
            stderr=self.log_file,
            env={**os.environ, **(environment or {})},
        )

    @property
    def log(self):
        return self.log_path.read_text()

    def wait_for_page(self, beyond=0):
        """A page with a number greater than this."""

        def newer():
            assert self.process.poll() is None, self.log
            page = Page.read(self.page)
            is_page = page and page.magic == MAGIC
            return page if is_page and page.seq > beyond else None

        return eventually(newer, f"a page beyond {beyond}; log:\n{self.log}")

    def wait_for_log(self, pattern, count=1):
        return eventually(
            lambda: len(re.findall(pattern, self.log)) >= count,
            f"{count} times {pattern!r} in\n{self.log}",
        )

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.send(number)
        code = self.process.wait(PATIENCE_S)
        self.log_file.close()
        return code


def run(*arguments, environment=None):
    """A daemon that is expected to end by itself."""
    return subprocess.run(
        [str(PROGRAM), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env={**os.environ, **(environment or {})},
    )
