# SPDX-License-Identifier: MIT
"""The processors that guests have, by Debian's names, and the machine that QEMU makes for each.

amd64 is what the tests are built for anyway. The others are cross builds, and their kernels are
fetched from Debian without this machine's package manager knowing of it (foreign.py), or built from
Debian's source where it has none (built.py).
"""

import dataclasses
import pathlib

from lab import ROOT


@dataclasses.dataclass(frozen=True)
class Processor:
    name: str
    config: str  # of scripts/build
    qemu: str  # its program
    machine: str
    cpu: str  # {vendor} is the scenario's
    append: str  # of the kernel's command line: the console is what QEMU shows
    library: pathlib.Path = pathlib.Path("/")  # where the cross packages keep its C library
    kernel: str = ""  # Debian's package that names its present kernel
    release: str = ""  # of Debian, if not this machine's
    built: str = ""  # whose kernel, where Debian has none: the file in kernels/ that says how

    @property
    def build(self):
        return ROOT / "build" / self.config

    @property
    def is_foreign(self):
        return self.kernel != ""


# Whether the timer interrupts, the kernel judges by how many ticks a loop takes: it panics where QEMU
# is held up meanwhile ("IO-APIC + timer doesn't work!").
TIMER_WORKS = "no_timer_check"


def _cross(name, triplet, **more):
    config = f"cross-{triplet.split('-')[0]}"
    return Processor(name, config, library=pathlib.Path("/usr", triplet, "lib"), **more)


def _big_endian_power(name, triplet):
    """Programs of 64 or 32 bits; Debian 11's source is the last whose kernel keeps the fields of
    /proc/ppc64/systemcfg. With a POWER9 the daemon ended by SIGILL: the C library takes vector code
    there, and kernels/ppc64.config has neither CONFIG_ALTIVEC nor CONFIG_VSX. A 970, nearer to the
    article's POWER4+, stood still with two CPUs."""
    return _cross(
        name,
        triplet,
        qemu="qemu-system-ppc64",
        machine="pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken",
        cpu="POWER7",
        append="console=hvc0",
        kernel="linux",
        release="bullseye",
        built="ppc64",
    )


ALL = (
    Processor(
        name="amd64",
        config="native",
        qemu="qemu-system-x86_64",
        machine="q35",
        cpu="max,vendor={vendor}",
        append=f"console=ttyS0 {TIMER_WORKS}",
    ),
    _cross(
        "arm64",
        "aarch64-linux-gnu",
        qemu="qemu-system-aarch64",
        machine="virt",
        cpu="cortex-a57",
        append="console=ttyAMA0",
        kernel="linux-image-arm64",
    ),
    # What else pseries asks for are remedies of faults that no emulated processor has.
    _cross(
        "ppc64el",
        "powerpc64le-linux-gnu",
        qemu="qemu-system-ppc64",
        machine="pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken",
        cpu="POWER9",
        append="console=hvc0",
        kernel="linux-image-powerpc64le",
    ),
    _cross(
        "s390x",
        "s390x-linux-gnu",
        qemu="qemu-system-s390x",
        machine="s390-ccw-virtio",
        cpu="max",
        append="console=ttysclp0",
        kernel="linux-image-s390x",
    ),
    _cross(
        "i386",
        "i686-linux-gnu",
        qemu="qemu-system-i386",
        machine="q35",
        cpu="max,vendor={vendor}",
        append=f"console=ttyS0 {TIMER_WORKS}",
        kernel="linux-image-686-pae",
    ),
    # Debian has it since 13.
    _cross(
        "riscv64",
        "riscv64-linux-gnu",
        qemu="qemu-system-riscv64",
        machine="virt",
        cpu="rv64",
        append="console=ttyS0",
        kernel="linux-image-riscv64",
        release="trixie",
    ),
    _big_endian_power("ppc64", "powerpc64-linux-gnu"),
    _big_endian_power("powerpc", "powerpc-linux-gnu"),
)
PROCESSORS = {one.name: one for one in ALL}
