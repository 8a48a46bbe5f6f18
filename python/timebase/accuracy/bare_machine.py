# SPDX-License-Identifier: MIT
"""What a log of the bare machine says: rows, and the figures of the paper where they were made, on
a machine with nothing else on it. The figures of a run in user space stand beside them."""

from __future__ import annotations

from pathlib import Path

import numpy

from timebase.accuracy import bare_pictures
from timebase.accuracy.serial_log import of_kind, read
from timebase.accuracy.summary import digits, quantile
from timebase.api.errors import InputError

NAMES = {
    "loop": "loop by {reading} at byte {offset_bytes}, cache {cache}",
    "table": "loop, table {table}, cache {cache}",
    "dispatch": "{mode}, {interval_us} us, beside {background}, cache {cache}",
    "wait": "wait, {way}",
}
SHARES = (0.05, 0.5, 0.95)
REFERENCES = ("hpet", "pm_timer", "pit")  # the best first


def document(path: Path, user_space: list[dict]) -> dict:
    """`user_space`: figures of accuracy.json, or none."""
    lines = read(path)
    faults = [line["text"] for line in of_kind(lines, "fault")]
    if lines[0]["kind"] != "machine":
        raise InputError(f"{path}: nothing was measured: {'; '.join(faults)}")
    tsc_hz = _tsc_hz(lines)
    cases = list(_cases(lines, tsc_hz))
    is_emulated = lines[0]["emulated"]
    return {
        "machine": _without_number(lines[0]),
        "fault": faults[0] if faults else None,
        "tsc_hz": tsc_hz,
        "frequencies": [_without_number(line) for line in of_kind(lines, "frequency")],
        "experiments": [line["experiment"] for line in of_kind(lines, "done")],
        "units": [_without_number(line) for line in of_kind(lines, "calendar")],
        "firmware": next((_without_number(line) for line in of_kind(lines, "smi")), None),
        "rows": [_row(*case) for case in cases],
        "figures": bare_pictures.draw(lines, cases, tsc_hz, is_emulated, user_space),
    }


def _without_number(line: dict) -> dict:
    return {name: value for name, value in line.items() if name not in ("line", "kind")}


def _tsc_hz(lines: list[dict]) -> float | None:
    """The middle of the bounds by the best clock; None if the run ended before it knew."""
    for name in REFERENCES:
        for line in of_kind(lines, "frequency", by=name):
            return (line["hz_low"] + line["hz_high"]) / 2
    return None


def _cases(lines: list[dict], tsc_hz: float | None):
    """Name, the line, and its errors in ns."""
    for line in lines:
        if line["kind"] not in NAMES:
            continue
        name = NAMES[line["kind"]].format(**line).lower().replace("_", " ")
        if "errors_ns" in line:
            errors = numpy.array(line["errors_ns"], float)
        else:
            errors = numpy.array(line["errors_ticks"], float) * 1e9 / tsc_hz
        yield name, line, errors


def _row(name: str, line: dict, errors: numpy.ndarray) -> dict:
    """What is not shown has no numbers: they would be an emulator's."""
    is_shown = line["shown"] and len(errors) > 0
    values = (digits(value) for value in quantile(errors, SHARES)) if is_shown else (None,) * 3
    names = zip(("p5_ns", "p50_ns", "p95_ns"), values)
    return {"name": name, "trials": len(errors), "shown": line["shown"], **dict(names)}
