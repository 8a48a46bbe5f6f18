# SPDX-License-Identifier: MIT
"""Builds the peers of each language, their probes and the driver, all below target/."""

import os
import subprocess
import sys
from pathlib import Path

from toolchain import output_of

HERE = Path(__file__).resolve().parent
TARGET = HERE / "target"
CXX_PROBES = ("empty", "chrono", "absl", "timebase")
GO_PROBES = ("./probe_empty", "./probe_std", "./probe_templexxx")
C = ("gcc", "-std=c11", "-O2", "-Wall", "-Wextra")
# Abseil comes as static libraries, and libstdc++ with it: start-up is to show a clock, not how
# long the dynamic linker takes for a dozen shared libraries.
CXX = ("g++", "-std=c++17", "-O2", "-Wall", "-Wextra")
STATIC_RUNTIME = ("-static-libstdc++", "-static-libgcc")


class Failed(Exception):
    """A command of the build did not succeed; its own output has said why."""


def run(*command, folder=HERE, **environment):
    """Runs one build command; its output goes to stderr, because stdout belongs to results."""
    shown = " ".join(map(str, command))
    print("build:", shown, file=sys.stderr)
    settings = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=settings, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise Failed(f"this command failed: {shown}")


def absl_headers():
    """Abseil's compile flags."""
    return output_of("pkg-config", "--cflags", "absl_time").split()


def absl_libs():
    """Abseil as static libraries."""
    return (
        "-Wl,-Bstatic",
        *output_of("pkg-config", "--libs", "absl_time").split(),
        "-Wl,-Bdynamic",
    )


def rust():
    """The static library and the probes, with the committed versions of every crate."""
    target = str(TARGET / "rust")
    run("cargo", "build", "--release", "--locked", folder=HERE / "rust", CARGO_TARGET_DIR=target)


def go():
    """The C archive and the probes."""
    folder = HERE / "go"
    (TARGET / "go").mkdir(parents=True, exist_ok=True)
    archive = TARGET / "go" / "libpeers_go.a"
    run("go", "build", "-buildmode=c-archive", "-o", archive, ".", folder=folder, CGO_ENABLED="1")
    run("go", "build", "-o", f"{TARGET}/go/", *GO_PROBES, folder=folder)


def timebase_libs(timebase):
    """libtimebase, static if it was built so; shared, it is found again where it was built."""
    static = timebase.library / "libtimebase.a"
    if static.is_file():
        return (static,)
    return (timebase.library / "libtimebase.so", f"-Wl,-rpath,{timebase.library}")


def cxx_probes(compile_flags, timebase):
    """Each probe links its own peer only, or the start-up of one would be that of all."""
    libraries = {"absl": absl_libs(), "timebase": timebase_libs(timebase)}
    for name in CXX_PROBES:
        program = TARGET / "cxx" / f"probe_{name}"
        run(
            *CXX,
            *compile_flags,
            f"cxx/probe_{name}.cpp",
            "-o",
            program,
            *STATIC_RUNTIME,
            *libraries.get(name, ()),
        )


def driver(compile_flags, timebase):
    """One program out of three languages."""
    cxx = TARGET / "cxx"
    run(*CXX, *compile_flags, "-c", "cxx/library.cpp", "-o", cxx / "library.o")
    for name in ("driver", "instruments"):
        run(*C, "-c", f"{name}.c", "-o", cxx / f"{name}.o")
    run(
        "g++",
        "-o",
        TARGET / "driver",
        cxx / "driver.o",
        cxx / "instruments.o",
        cxx / "library.o",
        TARGET / "rust" / "release" / "libpeers_rust.a",
        TARGET / "go" / "libpeers_go.a",
        *timebase_libs(timebase),
        *absl_libs(),
        *STATIC_RUNTIME,
        "-lpthread",
        "-ldl",
        "-lm",
    )


def everything(timebase):
    """Builds all of it against this libtimebase."""
    (TARGET / "cxx").mkdir(parents=True, exist_ok=True)
    flags = [*(f"-I{folder}" for folder in timebase.includes), *absl_headers()]
    rust()
    go()
    cxx_probes(flags, timebase)
    driver(flags, timebase)
