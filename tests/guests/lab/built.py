# SPDX-License-Identifier: MIT
"""A kernel and a busybox for a processor that Debian has none for, from Debian's sources.

The result is kept with a sum of what it was made by; minutes, when that has changed.
"""

import hashlib
import os
import shutil
import subprocess

from lab import HERE, WORK, say
from lab.apt import Apt


def unpacked(processor):
    """The folder with both, as foreign.unpacked() has it."""
    top = WORK / "built" / processor.name
    fragment = HERE / "kernels" / f"{processor.name}.config"
    stamp, wanted = top / "complete", hashlib.sha256(fragment.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        say(f"guests: building a kernel and a busybox for {processor.name}")
        shutil.rmtree(top, ignore_errors=True)
        for folder in ("root/boot", "root/bin"):
            (top / folder).mkdir(parents=True)
        apt = Apt(processor, top / "apt", "deb-src")
        log = top / "build.log"
        _make_kernel(processor, _sources(apt, "linux", top), fragment, log)
        _make_busybox(processor, _sources(apt, "busybox", top), log)
        shutil.copy(top / "linux" / "vmlinux", top / "root/boot/vmlinux")
        shutil.copy(top / "busybox" / "busybox", top / "root/bin/busybox")
        for folder in ("apt", "linux", "busybox"):
            shutil.rmtree(top / folder)
        stamp.write_text(wanted)
    return top / "root"


def _sources(apt, package, top):
    folder = top / package
    folder.mkdir()
    archive = apt.fetch_source(package)
    command = ["tar", "-xf", archive, "-C", folder, "--strip-components=1"]
    subprocess.run(command, check=True)
    archive.unlink()
    return folder


def _make_kernel(processor, folder, fragment, log):
    make = ["make", "ARCH=powerpc", f"CROSS_COMPILE={processor.compiler}"]
    _run([*make, "tinyconfig"], folder, log)
    _run(["scripts/kconfig/merge_config.sh", "-m", ".config", fragment], folder, log)
    _run([*make, "olddefconfig"], folder, log)
    _run([*make, f"-j{os.cpu_count()}", "vmlinux"], folder, log)
    _run([f"{processor.compiler}strip", "vmlinux"], folder, log)


def _make_busybox(processor, folder, log):
    """Static; without `tc`, which headers of a newer kernel have no place for."""
    make = ["make", f"CROSS_COMPILE={processor.compiler}"]
    _run([*make, "defconfig"], folder, log)
    config = folder / ".config"
    text = config.read_text().replace("# CONFIG_STATIC is not set", "CONFIG_STATIC=y")
    config.write_text(text.replace("CONFIG_TC=y", "# CONFIG_TC is not set"))
    _run([*make, "oldconfig"], folder, log)
    _run([*make, f"-j{os.cpu_count()}", "busybox"], folder, log)


def _run(command, folder, log):
    """Without answers to questions: each has its default."""
    with log.open("ab") as out:
        done = subprocess.run(
            command, cwd=folder, check=False, input=b"\n" * 1000, stdout=out, stderr=out
        )
    if done.returncode != 0:
        raise SystemExit(f"guests: {command[0]} {command[-1]} failed: {log}")
