# SPDX-License-Identifier: MIT
"""cyclictest beside the driver: wake-up latencies as it takes them itself, each one."""

import re
import shutil
import subprocess

from launch import Broken
from toolchain import output_of

from waits.catalogue import PERIOD_NS

SAMPLE = re.compile(r"^\s*0:\s*\d+:\s*(-?\d+)\s*$", re.MULTILINE)
MISSING = "cyclictest not found: install the package rt-tests"


def problem():
    """The reason why it cannot be run, or None."""
    return None if shutil.which("cyclictest") else MISSING


def version():
    """As "2.40"."""
    found = re.search(r"V (\S+)", output_of("cyclictest", "--help"))
    return found.group(1) if found else "unknown"


def command(loops, cpu, realtime):
    """Every sample in ns (-N -v), on the driver's CPU and with its scheduling class."""
    policy = ("-p80", "--policy=fifo") if realtime else ("--policy=other",)
    period = ("-i", str(PERIOD_NS // 1000), "-d0", "-l", str(loops))
    return ("cyclictest", "-N", "-v", "-m", "-t1", "-a", str(cpu), *policy, *period)


def parse(text):
    """Latencies in ns; the first is left out, as the driver's warm-ups are."""
    return [int(found) for found in SAMPLE.findall(text)][1:]


def sample(loops, cpu, realtime):
    """So many latencies in ns."""
    wanted = command(loops + 1, cpu, realtime)
    done = subprocess.run(wanted, capture_output=True, text=True, check=False)
    latencies = parse(done.stdout)
    if done.returncode != 0 or not latencies:
        raise Broken(f"{' '.join(wanted)}: {done.stderr.strip() or 'no samples'}")
    return latencies
