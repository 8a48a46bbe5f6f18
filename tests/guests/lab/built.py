# SPDX-License-Identifier: MIT
"""A kernel and a busybox for a processor that Debian has none for, from Debian's sources.

kernels/NAME.config and kernels/busybox.config say what is in them, beside nothing. The result is
kept with a sum of both; to make it takes minutes, when one has changed.
"""

import hashlib
import os
import re
import shutil
import subprocess

from lab import HERE, WORK, say
from lab.apt import Apt

KERNELS = HERE / "kernels"
MAKE = {"ppc64": ["ARCH=powerpc", "CROSS_COMPILE=powerpc64-linux-gnu-"]}


def unpacked(processor):
    """The folder with both, as foreign.unpacked() has it."""
    top = WORK / "built" / processor.built
    fragments = [KERNELS / f"{processor.built}.config", KERNELS / "busybox.config"]
    stamp, wanted = top / "complete", _sum(fragments)
    if not stamp.exists() or stamp.read_text() != wanted:
        say(f"guests: building a kernel and a busybox for {processor.built}")
        shutil.rmtree(top, ignore_errors=True)
        _build(processor, fragments, top)
        stamp.write_text(wanted)
    return top / "root"


def _sum(files):
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _build(processor, fragments, top):
    """The sources go as soon as they are built: 1.2 GB of them are the kernel's."""
    apt = Apt(processor, top / "apt", "deb-src")
    of_kernel, of_busybox = fragments
    kernel = _Source(apt, "linux", top, MAKE[processor.built])
    kernel.make("tinyconfig")
    kernel.configure(of_kernel, "olddefconfig")
    kernel.deliver("vmlinux", top / "root" / "boot")
    busybox = _Source(apt, "busybox", top, MAKE[processor.built])
    busybox.make("allnoconfig")
    busybox.configure(of_busybox, "oldconfig")
    busybox.deliver("busybox", top / "root" / "bin")
    shutil.rmtree(apt.top)


class _Source:
    """What one source package unpacks to, and its `make`."""

    def __init__(self, apt, package, top, variables):
        self.folder, self.log, self.variables = top / package, top / "build.log", variables
        self.folder.mkdir()
        archive = apt.fetch_source(package)
        command = ["tar", "-xf", archive, "-C", self.folder, "--strip-components=1"]
        subprocess.run(command, check=True)
        archive.unlink()

    def make(self, *targets):
        """Questions get no answer: each has its default."""
        with self.log.open("ab") as out:
            done = subprocess.run(
                ["make", *self.variables, *targets],
                cwd=self.folder,
                check=False,
                input=b"\n" * 1000,
                stdout=out,
                stderr=out,
            )
        if done.returncode != 0:
            raise SystemExit(f"guests: make {targets[-1]} failed: {self.log}")

    def configure(self, fragment, target):
        """A setting that did not hold would show as a guest that does not come up."""
        config, wanted = self.folder / ".config", fragment.read_text()
        for name in re.findall(r"CONFIG_\w+", wanted):
            kept = re.sub(rf"^(# )?{name}[= ].*\n", "", config.read_text(), flags=re.MULTILINE)
            config.write_text(kept)
        config.write_text(config.read_text() + wanted)
        self.make(target)
        got = config.read_text()
        lost = [line for line in re.findall(r"^CONFIG_.*", wanted, re.MULTILINE) if line not in got]
        if lost:
            raise SystemExit(
                f"guests: {fragment.name}: {self.folder.name} has no {', '.join(lost)}"
            )

    def deliver(self, name, folder):
        self.make(f"-j{os.cpu_count()}", name)
        folder.mkdir(parents=True)
        shutil.copy(self.folder / name, folder / name)
        shutil.rmtree(self.folder)
