# SPDX-License-Identifier: MIT
"""How the kernel was built and started: what several questions need."""

from __future__ import annotations

import re
from dataclasses import dataclass

from timebase.doctor.tree import Tree


@dataclass(frozen=True)
class Kernel:
    release: str | None
    version: str | None  # as `uname -v`
    options: dict | None  # without CONFIG_; None: its configuration is nowhere to be found
    options_source: str | None
    parameters: tuple[str, ...] | None  # words of its command line

    def option(self, name: str) -> str | None:
        """Its value, "n" if it is not set, None if the configuration is not known."""
        return None if self.options is None else self.options.get(name, "n")

    def parameter(self, *names: str) -> tuple[str, ...]:
        """The words that begin with one of these names."""
        return tuple(word for word in self.parameters or () if word.split("=")[0] in names)

    def at_least(self, major: int, minor: int) -> bool | None:
        found = re.match(r"(\d+)\.(\d+)", self.release or "")
        return (int(found[1]), int(found[2])) >= (major, minor) if found else None


def read(tree: Tree) -> Kernel:
    release = tree.text("/proc/sys/kernel/osrelease")
    options, source = _options(tree, release)
    line = tree.text("/proc/cmdline")
    return Kernel(
        release=release,
        version=tree.text("/proc/sys/kernel/version"),
        options=options,
        options_source=source,
        # What follows "--" is for the first process.
        parameters=None if line is None else tuple(line.partition(" -- ")[0].split()),
    )


def _options(tree: Tree, release: str | None) -> tuple[dict | None, str | None]:
    text = tree.unpacked("/proc/config.gz")
    if text is not None:
        return parse_config(text), "/proc/config.gz"
    for name in (f"/boot/config-{release}", f"/lib/modules/{release}/config"):
        text = tree.text(name)
        if release and text is not None:
            return parse_config(text), name
    return None, None


def parse_config(text: str) -> dict[str, str]:
    """{"HZ": "250"} from lines of CONFIG_HZ=250."""
    return dict(re.findall(r"^CONFIG_(\w+)=\"?([^\"\n]*)\"?$", text, re.MULTILINE))
