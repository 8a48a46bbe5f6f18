# SPDX-License-Identifier: MIT
"""Builds, measures, and writes waits.json and waits.md."""

import json
import re

import machine
import toolchain
from build import HERE
from launch import progress

from waits import build, cyclictest, table
from waits.measure import measure

FULL_ROUNDS, QUICK_ROUNDS = 40, 4


def peer_versions(left_out):
    """Of those that are there."""
    lock = (HERE / "waits" / "rust" / "Cargo.lock").read_text("utf-8")
    found = {
        "Rust": ("spin_sleep", re.search(r'"spin_sleep"\nversion = "([^"]+)"', lock).group(1)),
        "DPDK": ("DPDK", toolchain.output_of("pkg-config", "--modversion", "libdpdk")),
        "cyclictest": ("cyclictest", cyclictest.version()),
    }
    return dict(pair for title, pair in found.items() if title not in left_out)


def run(quick, folder):
    """All of it."""
    facts = machine.hardware()
    left_out = build.everything(toolchain.timebase())
    results = measure(QUICK_ROUNDS if quick else FULL_ROUNDS)
    results["left_out"] = {**left_out, **results["left_out"]}
    results["machine"] = {
        **facts,
        "toolchain": {name: toolchain.version_text(name) for name in ("g++", "rustc")},
        "peers": peer_versions(results["left_out"]),
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = table.markdown(results)
    (folder / "waits.json").write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    (folder / "waits.md").write_text(text, "utf-8")
    print(text)
    progress(f"written: {folder / 'waits.json'}, {folder / 'waits.md'}")
