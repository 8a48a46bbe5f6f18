# SPDX-License-Identifier: MIT
"""The kernel module's package in a fresh Debian that has DKMS and a kernel's headers: built for this kernel
when it is installed, for another one when that one's headers come, and gone after a purge.
`make packages` builds the package first.

The tests of this file are one story, told in order. Nothing is loaded: the kernel here is another. The guest
scenario `module_by_dkms` loads what DKMS built.
"""

import shutil
from pathlib import Path

import fresh_system
import pytest
from fresh_system import ROOT, unpack

BUILT = sorted((ROOT / "build/deb").glob("timebase-dkms_*_amd64.deb"))
HAS = ("dkms", "linux-headers-amd64")
NAME = "timebase.ko*"
# Debian's own newer kernels for a release that is out.
BACKPORTS = "deb http://deb.debian.org/debian {0} main\n"

pytestmark = [
    *fresh_system.pytestmark,
    pytest.mark.skipif(not BUILT, reason="no timebase-dkms of amd64: make packages"),
]


def kernels_of(system):
    """Those whose headers are there, and for which there is a module."""
    folders = sorted((system.folder / "lib/modules").iterdir())
    have = {one.name for one in folders if (one / "build").is_symlink()}
    return have, {one.name for one in folders if list((one / "updates/dkms").glob(NAME))}


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    return unpack("dkms", HAS, tmp_path_factory.mktemp("dkms"))


@pytest.fixture(scope="module")
def before(system):
    return kernels_of(system)[0]


def test_it_is_built_when_it_is_installed(system, before):
    shutil.copy(BUILT[-1], system.folder / "tmp")
    told = system.must("apt-get", "install", "-q", "-y", f"/tmp/{BUILT[-1].name}")
    assert before and kernels_of(system) == (before, before), told


def test_it_is_a_module_of_that_kernel(system, before):
    for kernel in before:
        (path,) = (system.folder / "lib/modules" / kernel / "updates/dkms").glob(NAME)
        inside = Path("/", path.relative_to(system.folder))
        assert system.must("modinfo", "-F", "vermagic", inside).split()[0] == kernel
        assert system.must("modinfo", "-F", "license", inside) == "Dual MIT/GPL\n"


@pytest.fixture(scope="module")
def release(system):
    """Of the newer kernel, whose headers can be had."""
    words = (system.folder / "etc/os-release").read_text().split()
    code = next(word for word in words if word.startswith("VERSION_CODENAME=")).partition("=")[2]
    release = f"{code}-backports"
    system.reach_the_network()
    (system.folder / "etc/apt/sources.list.d/newer.list").write_text(BACKPORTS.format(release))
    system.run("apt-get", "update", "-q")
    done = system.run("apt-get", "install", "--simulate", "-t", release, HAS[1])
    if done.returncode != 0:
        pytest.skip(f"no {HAS[1]} of {release} is to be had: {done.stderr.strip()}")
    return release


def test_it_is_built_for_the_next_kernel_when_its_headers_come(system, before, release):
    told = system.must(
        "apt-get", "install", "-q", "-y", "--no-install-recommends", "-t", release, HAS[1]
    )
    have, built = kernels_of(system)
    assert have > before and built == have, told


def test_nothing_is_left_after_a_purge(system):
    system.must("apt-get", "purge", "-q", "-y", "timebase-dkms")
    assert kernels_of(system)[1] == set()
    left = ("usr/src/timebase-*", "var/lib/dkms/timebase", "lib/modules/*/updates/dkms/*")
    assert [path for pattern in left for path in system.folder.glob(pattern)] == []
