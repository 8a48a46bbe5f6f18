# SPDX-License-Identifier: MIT
"""Finds what the build needs, or says what is missing and which Debian package brings it."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# Program: Debian package. Below, the oldest version that will do, and who asks for it.
PROGRAMS = {
    "gcc": "gcc",
    "g++": "g++",
    "pkg-config": "pkg-config",
    "cargo": "cargo",
    "rustc": "rustc",
    "go": "golang-go",
}
OLDEST = {
    "rustc": ((1, 88), "the clock-bound crate asks for it; rustup installs a current one"),
    "go": ((1, 19), "go.mod asks for it"),
}


class Missing(Exception):
    """Something has to be installed or built first; the text says what."""


@dataclass(frozen=True)
class Timebase:
    """Where the library under test is."""

    includes: tuple
    library: Path  # the folder


def output_of(*command):
    """The command's standard output, or an empty string if it cannot be run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def version_text(program):
    """The first line in which the program says its version."""
    flag = "version" if program == "go" else "--version"
    return output_of(program, flag).split("\n")[0]


def too_old(program, oldest):
    """Is the installed program older than the two numbers given?"""
    found = re.search(r"(\d+)\.(\d+)", version_text(program))
    return not found or tuple(map(int, found.groups())) < oldest


def problems():
    """All that is missing, a line each: nobody should install one thing to be told of the next."""
    for program, package in PROGRAMS.items():
        if not shutil.which(program):
            yield f"{program} not found: install the package {package}"
    for program, (oldest, why) in OLDEST.items():
        if shutil.which(program) and too_old(program, oldest):
            yield f"{program} is older than {oldest[0]}.{oldest[1]}: {why}"
    if shutil.which("pkg-config") and not output_of("pkg-config", "--libs", "absl_time"):
        yield "Abseil not found: install the package libabsl-dev"


def check():
    """Raises Missing with everything that has to be installed."""
    found = list(problems())
    if found:
        raise Missing("\n".join(found))


def timebase():
    """Headers in TIMEBASE_INCLUDE (a list with ':'), library in TIMEBASE_LIB, or this tree's."""
    includes = os.environ.get("TIMEBASE_INCLUDE", str(ROOT / "include")).split(":")
    if not any((Path(folder) / "timebase.h").is_file() for folder in includes):
        raise Missing(f"timebase.h not found in {':'.join(includes)}: set TIMEBASE_INCLUDE")
    build = ROOT / "build"
    default = (build, build / "src", build / "native", build / "native" / "src")
    given = os.environ.get("TIMEBASE_LIB")
    for folder in (Path(given),) if given else default:
        if any((folder / f"libtimebase.{kind}").is_file() for kind in ("so", "a")):
            absolute = tuple(str(Path(each).resolve()) for each in includes)
            return Timebase(absolute, folder.resolve())
    raise Missing(
        f"libtimebase not found in {given or build}: build it (scripts/build native) or"
        " set TIMEBASE_LIB"
    )
