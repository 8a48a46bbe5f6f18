# SPDX-License-Identifier: MIT
"""One boot.

QEMU emulates the processor (TCG): the guest's clocks and counter begin near 0, and nothing of this
machine but its speed has an influence. Where there is one CPU for all of its processors, one thread runs them in
turn, and goes on to the next at each PAUSE: of a thread for each, one that waits for another would
spend the other's time.
"""

import os
import subprocess

from lab import WORK, kernel, say

# For what hangs, not a measure of speed: a guest with all its tests takes some minutes.
LIMIT_SEC = 1800


def command(scenario, image):
    machine = scenario.machine
    is_alone = scenario.one_thread or len(os.sched_getaffinity(0)) == 1
    threads = "single" if is_alone else "multi"
    return [
        machine.qemu,
        *("-machine", scenario.board or machine.machine, "-accel", f"tcg,thread={threads}"),
        *("-cpu", machine.cpu.format(vendor=scenario.vendor)),
        *("-smp", str(scenario.cpus), "-m", "1024"),
        *("-display", "none", "-serial", "stdio", "-monitor", "none", "-nic", "none"),
        "-no-reboot",
        *("-kernel", kernel.image(machine), "-initrd", image),
        *("-append", f"{machine.append} panic=-1 quiet {scenario.append}"),
    ]


def boot(scenario, image):
    """The path of the serial log; what QEMU itself says goes there too. This machine's own kernel
    has no limit: how long a guest takes is this machine's affair, and scripts/watchdog ends what
    hangs. Another processor's may never come out of firmware that we did not choose."""
    log = WORK / f"{scenario.name}.log"
    with log.open("wb") as out:
        try:
            subprocess.run(
                command(scenario, image),
                check=False,
                timeout=LIMIT_SEC if scenario.machine.is_foreign else None,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        except subprocess.TimeoutExpired:
            say(f"guests: {scenario.name}: ended after {LIMIT_SEC} s")
    return log
