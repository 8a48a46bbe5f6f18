# SPDX-License-Identifier: MIT
"""Where the timebased of this machine looks for its configuration: its build decided."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

DEFAULT = "/etc/timebase/timebased.conf"
SYSTEM = ("/usr/local/sbin", "/usr/sbin")  # seldom in the PATH of who is not root
PATIENCE_S = 5
TOLD = re.compile(r"--config=FILE +configuration; (/.*), if it exists")


def configuration(search: str | None = None) -> str:
    """`search`: folders, as PATH has them; without one, PATH and where daemons are installed."""
    if search is None:
        search = os.pathsep.join([os.environ.get("PATH", ""), *SYSTEM])
    program = shutil.which("timebased", path=search)
    found = TOLD.search(_help(program)) if program else None
    return found[1] if found else DEFAULT


def _help(program: str) -> str:
    """Empty if it cannot be had."""
    try:
        done = subprocess.run(
            [program, "--help"], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, UnicodeError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
