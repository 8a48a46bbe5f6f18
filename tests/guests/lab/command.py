# SPDX-License-Identifier: MIT
"""The command `timebase` in the guest of another processor: what `meson install` makes of a cross
build, and Debian's Python for it. Packages are unpacked below build/ and not installed.
"""

import os
import shutil
import subprocess

from lab import ROOT, WORK, programs, say
from lab.apt import Apt

# What the packages python3-timebase and timebase-tools depend on.
NEEDS = ("python3", "python3-cffi-backend", "python3-rich", "python3-typer")
KEEP = ("./lib*", "./usr/lib*", "./usr/bin/python3*")


def add(top, machine):
    """Into the folder that becomes the guest's root."""
    for folder in (_python(machine), _installed(machine)):
        shutil.copytree(folder, top, symlinks=True, dirs_exist_ok=True)


def _python(machine):
    top = WORK / "python" / machine.name
    root, stamp = top / "root", top / "complete"
    if not stamp.exists():
        say(f"guests: fetching Debian's Python for {machine.name}")
        shutil.rmtree(top, ignore_errors=True)
        apt = Apt(machine, top / "apt")
        _begin(root)
        for package in apt.fetch_with_needs(*NEEDS):
            _unpack(package, root)
        shutil.rmtree(apt.top)
        stamp.touch()
    return root


def _begin(root):
    """Since Debian 13 the loader is in /usr/lib alone, and programs look for it in /lib."""
    for name in ("lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")


def _unpack(package, root):
    files = subprocess.run(["dpkg", "--fsys-tarfile", package], check=True, capture_output=True)
    subprocess.run(  # fails where a package has nothing of what is kept
        ["tar", "-x", "-C", root, "--keep-directory-symlink", "--wildcards", *KEEP],
        check=False,
        input=files.stdout,
        stderr=subprocess.DEVNULL,
    )


def _installed(machine):
    config = machine.config.replace("cross-", "command-")
    root = ROOT / "build" / config / "root"
    programs.build(config, [])
    subprocess.run(
        ["meson", "install", "--quiet", "-C", root.parent, "--tags", "python-runtime"],
        check=True,
        env={**os.environ, "DESTDIR": root},
    )
    return root
