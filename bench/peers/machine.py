# SPDX-License-Identifier: MIT
"""The machine and the tools a table of numbers must name."""

import datetime
import os
import platform
import re
import sys
from pathlib import Path

from build import HERE

sys.path.append(str(HERE.parent))
import record
from toolchain import output_of, version_text

CRATES = ("quanta", "minstant", "fastant", "clock-bound")


def cpu_fact(name):
    """A field of the first processor in /proc/cpuinfo."""
    found = re.search(rf"^{name}\s*: (.*)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    return found.group(1) if found else "unknown"


def cpu_model():
    """Model name with family and model, because virtual machines shorten the name."""
    kind = f"family {cpu_fact('cpu family')} model {cpu_fact('model')}"
    virtual = ", virtual machine" if " hypervisor " in f" {cpu_fact('flags')} " else ""
    return f"{cpu_fact('model name')} ({kind}{virtual})"


def clocksource():
    """The kernel's present clocksource: where it is not tsc, clock_gettime costs much more."""
    path = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    return path.read_text("ascii").strip() if path.exists() else "unknown"


def crate_versions():
    """The peers' versions from Cargo.lock."""
    lock = (HERE / "rust" / "Cargo.lock").read_text("utf-8")
    found = dict(re.findall(r'name = "([^"]+)"\nversion = "([^"]+)"', lock))
    return {name: found[name] for name in CRATES}


def go_version():
    """templexxx/tsc's version from go.mod."""
    return re.search(r"templexxx/tsc (\S+)", (HERE / "go" / "go.mod").read_text("utf-8")).group(1)


def hardware():
    """To be taken before anything is built, so that the load is not our own."""
    return {
        "cpu_model": cpu_model(),
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "clocksource": clocksource(),
        "load_average": os.getloadavg()[0],
        "commit": record.commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def facts():
    """The hardware and the tools of the clocks' table."""
    return {
        **hardware(),
        "toolchain": {name: version_text(name) for name in ("g++", "rustc", "go")},
        "peers": {
            "Abseil": output_of("pkg-config", "--modversion", "absl_time"),
            **crate_versions(),
            "templexxx/tsc": go_version(),
        },
    }
