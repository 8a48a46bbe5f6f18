# SPDX-License-Identifier: MIT
"""What clock_gettime() costs under `timebase exec`: `.venv/bin/python bench/exec.py`, on a quiet machine.

One program reads each clock in turns by clock_gettime(), by the vDSO itself and by a system call. It
is run as it is; as `timebase exec` starts it, which steps aside where the kernel's own reading is
quick; behind the library all the same (TIMEBASE_PRELOAD=auto); and with --always, by the counter. The goal is a
ratio of at most 1.0 in the second row, and of 1/7 where the kernel reads an HPET.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from timebase.exec.clocks import look
from timebase.exec.libraries import find

SOURCE = Path(__file__).resolve().parent / "exec/readings.c"
EXEC = (sys.executable, "-c", "from timebase.cli import main; main()", "exec")


def built(folder):
    program = Path(folder) / "readings"
    subprocess.run(["cc", "-O2", "-o", program, SOURCE, "-ldl"], check=True)
    return str(program)


def rows(command, **more):
    out = subprocess.run(
        command, env={**os.environ, **more}, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    for line in out.splitlines():
        name, *costs = line.split()
        yield (name, *map(float, costs))


def show(title, found):
    print(f"\n{title}")
    print(f"  {'clock':18}{'here':>9}{'vDSO':>9}{'call':>9}   here/vDSO")
    for name, here, vdso, call in found:
        print(f"  {name:18}{here:9.1f}{vdso:9.1f}{call:9.1f}{here / vdso:12.2f}")


def main():
    clocks = look()
    print(f"The kernel keeps time by {clocks.clocksource}. Medians in ns a reading.")
    with tempfile.TemporaryDirectory() as folder:
        program = built(folder)
        show("as it is", rows([program]))
        show("timebase exec", rows([*EXEC, "--", program]))
        library = find(64)
        if library is not None:
            show("behind the library", rows([program], LD_PRELOAD=library, TIMEBASE_PRELOAD="auto"))
            show("timebase exec --always", rows([*EXEC, "--always", "--", program]))


if __name__ == "__main__":
    main()
