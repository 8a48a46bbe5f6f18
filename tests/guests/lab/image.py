# SPDX-License-Identifier: MIT
"""The initramfs of a scenario."""

import gzip
import shutil
import subprocess

from lab import WORK, command, foreign, kernel, programs

# With 2 virtual CPUs two tests at a time; those that want the machine to themselves come last.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mkdir -p /dev/shm
/bin/busybox mount -t tmpfs tmp /tmp
/bin/busybox mount -t tmpfs run /run
/bin/busybox mount -t tmpfs shm /dev/shm
/bin/busybox --install -s /bin
/bin/ifconfig lo 127.0.0.1
export PATH=/bin:/tests:/usr/bin TIMEBASED=/tests/timebased LD_LIBRARY_PATH=/tests
echo "guest: up $(cat /proc/uptime)"
xargs -r -P $(nproc) -n 1 /one < /parallel
xargs -r -P 1 -n 1 /one < /alone
for module in $(cat /modules.txt); do insmod /modules/$module; done
for step in $(cat /steps.txt); do
    echo "guest: step $step begins"
    sh /steps/$step 2>&1
    echo "guest: step $step $?"
done
echo "guest: up $(cat /proc/uptime)"
echo "guest: done"
poweroff -f
"""
ONE = """#!/bin/sh
/tests/$1 > /tmp/$1.log 2>&1
result=$?
case $result in 0|77) ;; *) sed "s/^/    /" /tmp/$1.log ;; esac
echo "guest: $1 $result"
"""


def make(scenario, tests):
    top = WORK / scenario.name
    shutil.rmtree(top, ignore_errors=True)
    machine = scenario.machine
    busybox = foreign.busybox(machine) if machine.is_foreign else shutil.which("busybox")
    _copy(busybox, top / "bin" / "busybox")
    for program in programs.in_guest(scenario, tests):
        _add_program(top, program, machine)
    preload = programs.preload(machine)
    _copy(preload, top / "tests" / preload.name)
    for library in programs.opened_by_path(machine):
        _copy(library, top / library.relative_to("/"))
    _add_tests(top, tests)
    if scenario.command:
        command.add(top, machine)
    for name in (*scenario.modules, *scenario.for_steps):
        _copy(kernel.module(name, by_dkms=scenario.by_dkms), top / "modules" / f"{name}.ko")
    _write(top / "modules.txt", "".join(f"{name}.ko\n" for name in scenario.modules))
    for number, step in enumerate(scenario.steps, 1):
        _write(top / "steps" / str(number), step.run)
    _write(top / "steps.txt", "".join(f"{n}\n" for n in range(1, len(scenario.steps) + 1)))
    _write(top / "init", INIT, 0o755)
    _write(top / "one", ONE, 0o755)
    return _pack(top, WORK / f"{scenario.name}.cpio.gz")


def _add_tests(top, tests):
    lists = {"parallel": [], "alone": []}
    for test in tests:
        line = f"{programs.of_test(test).name}\n"
        lists["parallel" if test["is_parallel"] else "alone"].append(line)
    for which, lines in lists.items():
        _write(top / which, "".join(lines))


def _add_program(top, program, machine):
    _copy(program, top / "tests" / program.name.removeprefix("guest_"))
    for library in programs.libraries(program, machine):
        is_ours = machine.build in library.parents
        where = f"tests/{library.name}" if is_ours else library.relative_to("/")
        _copy(library, top / where)


def _copy(source, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    if not to.exists():
        shutil.copy(source, to)


def _write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def _pack(top, image):
    files = "".join(f"{path.relative_to(top)}\n" for path in sorted(top.rglob("*")))
    archive = subprocess.run(
        ["cpio", "--quiet", "-o", "-H", "newc"],
        cwd=top,
        check=True,
        input=files.encode(),
        capture_output=True,
    ).stdout
    image.write_bytes(gzip.compress(archive, 1))
    return image
