# SPDX-License-Identifier: MIT
"""Debian's own kernel, unpacked and not installed: nothing of this machine's own boot changes."""

import pathlib
import re
import shutil
import subprocess

from lab import HERE, ROOT, WORK, dkms, foreign, say

HEADERS = pathlib.Path("/usr/src")
# The module that users load; all others are folders of the tests.
PRODUCT = "timebase"
PRODUCT_FOLDER = ROOT / "platform" / "linux-module"


def version():
    """Of the headers that are installed, and so of the kernel: its modules fit no other."""
    found = sorted(path.name for path in HEADERS.glob("linux-headers-*-amd64"))
    if not found:
        raise SystemExit("guests: linux-headers-amd64 is not installed (scripts/setup guests)")
    return found[-1].removeprefix("linux-headers-")


def image(machine):
    return foreign.kernel(machine) if machine.is_foreign else _own_image()


def _own_image():
    release = version()
    path = WORK / "kernel" / "boot" / f"vmlinuz-{release}"
    if path.exists():
        return path
    package = f"linux-image-{release}"
    say(f"guests: fetching Debian's {package}")
    WORK.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["apt-get", "-q", "-o", "APT::Sandbox::User=", "download", package],
        cwd=WORK,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    archive = next(WORK.glob(f"{package}_*.deb"))
    subprocess.run(["dpkg", "-x", archive, WORK / "kernel"], check=True)
    archive.unlink()
    return path


def module(name, *, by_dkms=False):
    """A module of the tests, the folder NAME, or the product's, built in a copy of it: the kernel's
    build writes beside its sources."""
    if name == PRODUCT and by_dkms:
        return _by_dkms()
    build = WORK / "modules" / version() / name
    build.mkdir(parents=True, exist_ok=True)
    if name == PRODUCT:
        _make(name, "-C", PRODUCT_FOLDER, f"OUT={build}", f"KERNEL={_headers()}")
    else:
        _copy(HERE / name, build)
        _make(name, "-C", _headers(), f"M={build}", "modules")
    return build / f"{name}.ko"


def _headers():
    return HEADERS / f"linux-headers-{version()}"


def _by_dkms():
    """Of the folder of sources that its package brings."""
    top = WORK / "dkms" / version()
    shutil.rmtree(top, ignore_errors=True)
    sources = top / "sources" / PRODUCT
    _make(PRODUCT, "-C", PRODUCT_FOLDER, "source", f"OUT={sources}")
    return dkms.build(sources, version(), _headers())


def _copy(folder, build):
    for source in folder.iterdir():
        target = build / source.name
        if not target.exists() or source.read_bytes() != target.read_bytes():
            shutil.copy(source, target)


def _make(name, *arguments):
    made = subprocess.run(["make", *arguments], check=False, text=True, capture_output=True)
    if made.returncode != 0:
        say(made.stdout + made.stderr)
        raise SystemExit(f"guests: the module {name} does not build")
    if warnings := re.findall(r"^.*warning: .*$", made.stdout + made.stderr, re.MULTILINE):
        raise SystemExit("\n".join([f"guests: the module {name} builds with warnings:", *warnings]))
