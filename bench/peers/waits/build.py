# SPDX-License-Identifier: MIT
"""Builds the driver of the waits. What is missing is left out, and named."""

import shutil

from build import CXX, HERE, TARGET, C, Failed, run, timebase_libs
from toolchain import ROOT, output_of

SOURCE = HERE / "waits" / "driver"
MEASURE = ROOT / "measure"
OBJECTS = TARGET / "waits"
PLAIN_C = ("stopwatch", "trial", "table", "results", "timebase", "kernel")
DRIVER = OBJECTS / "driver"
RUST = HERE / "waits" / "rust"
RUST_LIBRARY = TARGET / "waits-rust" / "release" / "libwaits_rust.a"


def compile_c(name, *flags):
    """One object of the driver."""
    run(*C, *flags, "-c", SOURCE / f"{name}.c", "-o", OBJECTS / f"{name}.o")
    return OBJECTS / f"{name}.o"


def rust():
    """The Rust peers' library; the reason why there is none, or None."""
    if not shutil.which("cargo"):
        return "cargo not found: install the package cargo"
    try:
        target = str(TARGET / "waits-rust")
        run("cargo", "build", "--release", "--locked", folder=RUST, CARGO_TARGET_DIR=target)
    except Failed as problem:
        return f"{problem} (its own words are above)"
    return None


def dpdk():
    """The reason why DPDK cannot be had, or None."""
    if not output_of("pkg-config", "--libs", "libdpdk"):
        return "libdpdk not found: install the package libdpdk-dev"
    return None


def optional_objects(includes):
    """Objects, flags for driver.c, libraries, and what is left out: {title: reason}."""
    objects, flags, libraries, left_out = [], [], [], {}
    reason = rust()
    if reason:
        left_out["Rust"] = reason
    else:
        objects.append(compile_c("rust", *includes))
        flags.append("-DWITH_RUST")
        libraries.append(RUST_LIBRARY)
    reason = dpdk()
    if reason:
        left_out["DPDK"] = reason
    else:
        objects.append(compile_c("dpdk", *output_of("pkg-config", "--cflags", "libdpdk").split()))
        flags.append("-DWITH_DPDK")
        libraries.extend(output_of("pkg-config", "--libs", "libdpdk").split())
    return objects, flags, libraries, left_out


def everything(timebase):
    """Builds the driver against this libtimebase; {title: reason} of what is left out."""
    OBJECTS.mkdir(parents=True, exist_ok=True)
    includes = [f"-I{folder}" for folder in timebase.includes]
    objects, flags, libraries, left_out = optional_objects(includes)
    objects += [compile_c(name, *includes) for name in PLAIN_C]
    objects.append(compile_c("driver", *includes, *flags))
    for name, source in (("instruments", HERE / "instruments.c"), ("core", MEASURE / "core.c")):
        run(*C, *includes, "-c", source, "-o", OBJECTS / f"{name}.o")
    run(*CXX, "-c", SOURCE / "chrono.cpp", "-o", OBJECTS / "chrono.o")
    objects += [OBJECTS / f"{name}.o" for name in ("instruments", "core", "chrono")]
    libraries = [*libraries, *timebase_libs(timebase), "-lpthread", "-ldl", "-lm"]
    run("g++", "-o", DRIVER, *objects, *libraries)
    return left_out
