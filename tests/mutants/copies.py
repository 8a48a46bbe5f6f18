# SPDX-License-Identifier: MIT
"""Copies of the sources in build/mutants, to be spoilt, and what is built of them."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from stored import ROOT, Broken

WORK = ROOT / "build" / "mutants"
SOURCES = (
    "include",
    "src",
    "daemon",
    "packaging",
    "docs",
    "scripts",
    "tests",
    "measure",
    "bindings",
    "examples",
    "spec",
    "meson.build",
    "meson_options.txt",
)
LEFT_OUT = {"mutants", "__pycache__"}

# Debian's meson and Python, as in scripts/build. Fewer reads: a mutant's torture may be shorter.
ENVIRONMENT = dict(os.environ, PATH="/usr/bin:/bin:" + os.environ.get("PATH", ""))
ENVIRONMENT.setdefault("TIMEBASE_TEST_READS", "200000")
ENVIRONMENT["CMOCKA_MESSAGE_OUTPUT"] = "STDOUT"  # in which it says what is skipped


def call(*command):
    return subprocess.run(
        command,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def files_below(top):
    """Names above `top` do not count: the checkout, or the copy, may lie in a folder `mutants`."""
    if top.is_file():
        return [top]
    files = [path for path in top.rglob("*") if path.is_file()]
    return [path for path in files if not LEFT_OUT & set(path.relative_to(top).parts)]


class Copy:
    """The sources and their build. Found by relative paths only, so that a copy of a copy needs no
    second build."""

    def __init__(self, number):
        self.top = WORK / str(number)
        self.tree = self.top / "tree"
        self.build = self.top / "build"

    def update(self):
        """Only what has changed is written, so that a second run builds little."""
        wanted = {
            path.relative_to(ROOT): path
            for source in SOURCES
            for path in files_below(ROOT / source)
        }
        for path in files_below(self.tree) if self.tree.exists() else []:
            if path.relative_to(self.tree) not in wanted:
                path.unlink()
        for name, path in wanted.items():
            copy = self.tree / name
            if not copy.exists() or copy.read_bytes() != path.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy)
        self.configure()

    def configure(self):
        made = (self.build / "build.ninja").exists()
        if made and call("ninja", "-C", str(self.build), "build.ninja").returncode == 0:
            return  # and made anew if a meson.build has changed
        shutil.rmtree(self.build, ignore_errors=True)
        options = ["--buildtype=plain", "-Dc_args=-O1", "-Dexamples=false", "-Dcommand=disabled"]
        done = call("meson", "setup", *options, str(self.build), str(self.tree))
        if done.returncode != 0:
            sys.exit(done.stdout + "tests/mutants/run: Meson failed")

    def others(self, count):
        """Copies of this one, times of files and all."""
        others = [Copy(number) for number in range(1, count)]
        for other in others:
            shutil.rmtree(other.top, ignore_errors=True)
            shutil.copytree(self.top, other.top, symlinks=True)
        return others

    def introspect(self, what):
        return json.loads(call("meson", "introspect", what, str(self.build)).stdout)

    def relative(self, path):
        return os.path.relpath(os.path.realpath(path), self.build)

    def programs(self):
        """Test program -> path, relative to the build folder."""
        targets = self.introspect("--targets")
        return {
            target["name"]: self.relative(target["filename"][0])
            for target in targets
            if target["type"] == "executable"
        }

    def programs_alone(self):
        """The paths of those that must not run beside others."""
        tests = self.introspect("--tests")
        return {self.relative(test["cmd"][0]) for test in tests if not test["is_parallel"]}

    def make(self, paths, jobs):
        done = call("ninja", f"-j{jobs}", "-C", str(self.build), *paths)
        if done.returncode != 0:
            tail = "\n".join(done.stdout.splitlines()[-20:])
            raise Broken(f"does not build:\n{tail}")

    def spoilt(self, place):
        """The sources with a fault in them, for as long as a `with` lasts."""
        return Spoilt(self.tree / place.file, place)


class Spoilt:
    def __init__(self, path, place):
        self.path, self.place = pathlib.Path(path), place

    def __enter__(self):
        self.original = self.path.read_text()
        text, place = self.original, self.place
        self.path.write_text(text[: place.start] + place.text + text[place.end :])

    def __exit__(self, *_):
        self.path.write_text(self.original)
