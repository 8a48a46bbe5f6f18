# SPDX-License-Identifier: MIT
"""The kernel and the busybox of another processor: Debian's packages, unpacked below build/ and not
installed, or built where there are none.
"""

import shutil
import subprocess

from lab import WORK, built, say
from lab.apt import Apt


def _root(processor):
    return built.unpacked(processor) if processor.built else unpacked(processor)


def unpacked(processor):
    """The folder with its kernel and its busybox."""
    top = WORK / "debian" / processor.name
    stamp = top / "complete"
    if not stamp.exists():
        say(f"guests: fetching Debian's kernel and busybox for {processor.name}")
        apt = Apt(processor, top / "apt")
        for package in (apt.needed_by(processor.kernel, "linux-image-"), "busybox-static"):
            _unpack(apt.fetch(package), top / "root")
        shutil.rmtree(apt.top)
        stamp.touch()
    return top / "root"


def _unpack(package, to):
    """The kernel, not its hundreds of megabytes of modules; and programs."""
    to.mkdir(exist_ok=True)
    files = subprocess.run(["dpkg", "--fsys-tarfile", package], check=True, capture_output=True)
    keep = ["--wildcards", "./boot/vmlinu*", "./bin/*", "./usr/bin/*"]
    subprocess.run(
        ["tar", "-x", "-C", to, *keep], check=False, input=files.stdout, stderr=subprocess.DEVNULL
    )
    package.unlink()


def kernel(processor):
    """vmlinuz where it is compressed, vmlinux where it is not."""
    (found,) = (_root(processor) / "boot").glob("vmlinu*")
    return found


def busybox(processor):
    root = _root(processor)
    return next(path for path in (root / "bin/busybox", root / "usr/bin/busybox") if path.exists())
