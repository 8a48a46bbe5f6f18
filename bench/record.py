# SPDX-License-Identifier: MIT
"""The tables in bench/results: each is of one run of one command, and names commit and machine."""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results"


def commit(tree: Path = ROOT) -> str:
    """Of this tree, with -dirty if it is changed; "unknown" where git does not tell. The tables
    themselves do not count: one that was just written says nothing of what the next one measures."""
    changed = ["diff", "--quiet", "HEAD", "--", ".", ":(exclude)bench/results"]
    try:
        described = _git(tree, "describe", "--always", "--abbrev=12")
        described.check_returncode()
        is_dirty = _git(tree, *changed).returncode != 0
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return described.stdout.strip() + ("-dirty" if is_dirty else "")


def _git(tree: Path, *arguments: str) -> subprocess.CompletedProcess:
    command = ["git", "-C", tree, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def heading(machine: dict, load: float, more: str = "") -> str:
    """`machine` as timebase.api.machine.describe() has it, `load` as it was before the run."""
    from timebase.text.hypervisor import show_hypervisor  # where the machine is from, too

    return (
        f"{machine['processor']}, {show_hypervisor(machine['hypervisor']) or 'bare metal'}, Linux "
        f"{machine['kernel']}, {machine['counter']} {machine['frequency_hz'] / 1e6:.0f} MHz{more}, "
        f"load {load:.2f} at the start, {time.strftime('%Y-%m-%d')}, commit {commit()}."
    )


def add_options(parser: argparse.ArgumentParser, parts) -> None:
    """Those that decide whether a run is for the record."""
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the tables there")
    parser.add_argument("--quick", action="store_true", help="short, and not for the record")
    if parts:
        parser.add_argument("--only", choices=parts, action="append", help="this part alone")


def folder(options: argparse.Namespace) -> Path | None:
    """Where the table goes. A part of a run, or a quick one, would pass for a whole one: it is
    printed, and written only where somebody asks for it."""
    is_whole = not options.quick and not getattr(options, "only", None)
    return options.out or (RESULTS if is_whole else None)


def between(text: str, begin: str, end: str, inside: str) -> str:
    """The text with `inside` between these marks; ValueError if they are not there."""
    start, stop = text.index(begin) + len(begin), text.index(end)
    return text[:start] + inside + text[stop:]


def write(out: Path | None, name: str, lines: list[str], samples) -> None:
    """NAME.md, and NAME.json with every sample beside it, which git ignores."""
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = json.dumps(samples, indent=1, ensure_ascii=False) + "\n"
    (out / f"{name}.json").write_text(text, encoding="utf-8")
