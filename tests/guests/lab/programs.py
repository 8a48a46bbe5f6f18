# SPDX-License-Identifier: MIT
"""What is built to run in a guest, and the libraries that it opens there."""

import fnmatch
import json
import pathlib
import re
import subprocess

from lab import ROOT


def tests_of(scenario):
    """The C tests that run in it, as Meson lists them."""
    if not scenario.suites:
        return []
    build = scenario.machine.build
    out = subprocess.run(
        ["meson", "introspect", "--tests", build], check=True, text=True, capture_output=True
    ).stdout
    return [test for test in json.loads(out) if _is_wanted(test, scenario, build)]


def _is_wanted(test, scenario, build):
    name = test["name"]
    return (
        test["suite"][0].split(":")[-1] in scenario.suites
        and len(test["cmd"]) == 1
        and build in of_test(test).parents
        and any(fnmatch.fnmatch(name, pattern) for pattern in scenario.names)
        and not any(fnmatch.fnmatch(name, pattern) for pattern in scenario.not_names)
    )


def of_test(test):
    return pathlib.Path(test["cmd"][0])


def preload(machine):
    return machine.build / "src" / "preload" / "libtimebase-preload.so"


def opened_by_path(machine):
    """Tests open these where they were built."""
    names = ("libtimebase.so.1", "tests/libpreload_early.so")
    paths = [preload(machine), *(machine.build / name for name in names)]
    return [path for path in paths if path.exists()]


def in_guest(scenario, tests):
    build = scenario.machine.build
    ours = [build / _path_in_build(name) for name in scenario.programs]
    return [of_test(test) for test in tests] + ours + [build / "daemon" / "timebased"]


def _path_in_build(name):
    return name if "/" in name else f"tests/guests/guest_{name}"


def set_up(machine):
    """So that Meson knows its tests."""
    build(machine.config, ["libtimebase.a"])


def build_for(scenario, tests):
    """What goes into the guest of a cross build, and no more of it: `make cross` builds the rest."""
    machine = scenario.machine
    wanted = [*in_guest(scenario, tests), preload(machine)]
    build(machine.config, sorted({str(path.relative_to(machine.build)) for path in wanted}))


def build(config, targets):
    done = subprocess.run(
        ["scripts/build", config, *targets],
        cwd=ROOT,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}guests: {config} does not build")


def libraries(program, machine):
    """What the loader opens for it, with the loader itself, and what the C library opens when a thread
    is cancelled."""
    named = _foreign_libraries if machine.is_foreign else _own_libraries
    found = named(program, machine)
    return found | {one.with_name("libgcc_s.so.1") for one in found if one.name == "libc.so.6"}


def _own_libraries(program, _machine):
    out = subprocess.run(["ldd", program], check=False, text=True, capture_output=True).stdout
    return {pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", out)}


def _foreign_libraries(program, machine):
    """There is no ldd of another processor's; what a program names is in its build, beside it
    or with its C library. The C library is a program too, and names a loader where nobody has it."""
    said = _said_by(program)
    found = {pathlib.Path(path) for path in re.findall(r"program interpreter: (\S+)\]", said)}
    names = re.findall(NEEDED, said)
    while names:
        name = names.pop()
        folders = (machine.build, program.parent, machine.library)
        path = next(folder / name for folder in folders if (folder / name).exists())
        if path not in found:
            found.add(path)
            names += re.findall(NEEDED, _said_by(path))
    return found


NEEDED = r"\(NEEDED\).*\[(\S+)\]"


def _said_by(program):
    return subprocess.run(
        ["readelf", "--wide", "-l", "-d", program], check=True, text=True, capture_output=True
    ).stdout
