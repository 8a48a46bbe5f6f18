# SPDX-License-Identifier: MIT
"""One boot.

QEMU emulates the processor (TCG): the guest's clocks and counter begin near 0, and nothing of this
machine but its speed has an influence. Where there is one CPU for all of its processors, one thread runs them in
turn, and goes on to the next at each PAUSE: of a thread for each, one that waits for another would
spend the other's time.
"""

import os
import subprocess

from lab import WORK, kernel


def command(scenario, image):
    threads = "multi" if len(os.sched_getaffinity(0)) > 1 else "single"
    return [
        "qemu-system-x86_64",
        *("-machine", "q35", "-accel", f"tcg,thread={threads}"),
        *("-cpu", f"max,vendor={scenario.vendor}"),
        *("-smp", str(scenario.cpus), "-m", "1024"),
        *("-display", "none", "-serial", "stdio", "-monitor", "none", "-nic", "none"),
        "-no-reboot",
        *("-kernel", kernel.image(), "-initrd", image),
        *("-append", f"console=ttyS0 panic=-1 quiet {scenario.append}"),
    ]


def boot(scenario, image):
    """The path of the serial log; what QEMU itself says goes there too. No limit: how long a guest
    takes is this machine's affair, and scripts/watchdog ends what hangs."""
    log = WORK / f"{scenario.name}.log"
    with log.open("wb") as out:
        subprocess.run(
            command(scenario, image),
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    return log
