# SPDX-License-Identifier: MIT
"""What a scenario says. A file NAME.toml in scenarios/:

what = "one line"
common = "processor"              # what common/NAME.toml says, unless this file says otherwise; its
                                  # steps come after this file's, and those of its own common last
processor = "arm64"               # of processor.py; else amd64, this machine's
cpus = 2
one_thread = true                 # of QEMU's runs all CPUs, in turns: a busy machine leaves two that
                                  # throw readings to each other the same share of it
board = "pc"                      # QEMU's name of a machine other than the processor's own
vendor = "AuthenticAMD"           # whose processor the kernel takes it for; else GenuineIntel
append = ""                       # more of the kernel's command line
quick = true                      # part of `make test`, not only of `make guests`
only_by_name = true               # part of neither

suites = ["unit", "system"]       # the C tests of the build that run in it
names = ["wait*"]                 # of these only those; all if it is missing
not = ["realtime_*"]              # and none of those

modules = ["counter_mover"]       # kernel modules of this folder, loaded before the steps
for_steps = ["timebase"]          # those that the steps load: /modules/NAME.ko
by_dkms = true                    # the product's module is what DKMS makes of it
programs = ["cpu_offsets"]        # of the build's tests/guests, in /tests; others by their path
command = true                    # the command `timebase`, and Debian's Python for another processor

[[step]]                          # in the order of the file, after the tests
run = "cpu_offsets 1 contains 0"  # by the shell; must exit with 0
see = ["^cpu 1: "]                # patterns that what it prints must have, line by line
not = ["warp"]                    # and must not have
"""

import dataclasses
import re

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.9 and 3.10
    import tomli as tomllib

from lab import SCENARIOS
from lab.processor import PROCESSORS


class ScenarioError(Exception):
    """What is wrong with a file, and where."""


@dataclasses.dataclass(frozen=True)
class Step:
    run: str
    see: tuple = ()
    not_see: tuple = ()


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    what: str
    cpus: int
    processor: str = "amd64"
    one_thread: bool = False
    board: str = ""
    vendor: str = "GenuineIntel"
    append: str = ""
    quick: bool = False
    only_by_name: bool = False
    suites: tuple = ()
    names: tuple = ("*",)
    not_names: tuple = ()
    modules: tuple = ()
    for_steps: tuple = ()
    by_dkms: bool = False
    programs: tuple = ()
    command: bool = False
    steps: tuple = ()

    @property
    def machine(self):
        return PROCESSORS[self.processor]


SPELLING = {"not": "not_names", "step": "steps"}


def read(name):
    path = SCENARIOS / f"{name}.toml"
    try:
        found = _found(path)
        values = {SPELLING.get(key, key): _frozen(value) for key, value in found.items()}
        values["steps"] = tuple(_step(one) for one in found.get("step", ()))
        if values.get("processor", "amd64") not in PROCESSORS:
            raise ScenarioError(f"{path}: no processor {values['processor']}")
        return Scenario(name=name, **values)
    except (OSError, tomllib.TOMLDecodeError, TypeError, re.error) as problem:
        raise ScenarioError(f"{path}: {problem}") from None


def _found(path):
    found = tomllib.loads(path.read_text())
    if "common" not in found:
        return found
    common = _found(SCENARIOS / "common" / f"{found.pop('common')}.toml")
    return common | found | {"step": found.get("step", []) + common.get("step", [])}


def names():
    return sorted(path.stem for path in SCENARIOS.glob("*.toml"))


def _frozen(value):
    return tuple(value) if isinstance(value, list) else value


def _step(found):
    see, not_see = (tuple(found.pop(key, ())) for key in ("see", "not"))
    for pattern in see + not_see:
        re.compile(pattern)
    return Step(see=see, not_see=not_see, **found)
