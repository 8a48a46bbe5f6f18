# SPDX-License-Identifier: MIT
"""Folders with timelines, written by the writer of spec/timeline.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "spec"))

import timeline_cases as cases
import timeline_model


def write_case(folder, case):
    """Returns what a reader has to say of its ticks."""
    files, reads = case()
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return reads


def write_series(folder, count, first=None):
    """One run, from this publication on; returns all of it."""
    writer = timeline_model.Writer()
    writer.boot = cases.BOOTS[0]
    run = cases.series(first or cases.first(10_000_000_000), count)
    writer.segment()
    writer.mark(timeline_model.BEGIN)
    writer.three(run[0])
    for publication in run[1:]:
        writer.one(publication)
    folder.mkdir(exist_ok=True)
    for name, data in writer.files.items():
        (folder / name).write_bytes(data)
    return run
