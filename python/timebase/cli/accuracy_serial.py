# SPDX-License-Identifier: MIT
"""timebase accuracy --serial FILE: figures of a run on the bare machine."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from timebase.api.errors import InputError
from timebase.bench.percentile import DASH


def draw_log(log: Path, out: Path) -> dict:
    """Reads the log, writes bare.json and the pictures, and gives what bare.json holds."""
    from timebase.accuracy import bare_machine
    from timebase.report.file import write_whole
    from timebase.report.pictures import save

    document = bare_machine.document(log, _user_space(out / "accuracy.json"))
    save(document["figures"], out, lambda share: None)
    write_whole(out / "bare.json", json.dumps(document, ensure_ascii=False) + "\n")
    return document


def _user_space(path: Path) -> list[dict]:
    """The figures of an earlier `timebase accuracy --out` into the same folder."""
    try:
        return json.loads(path.read_bytes())["figures"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not what timebase accuracy writes: move it away") from None


def print_log(document: dict) -> None:
    console = Console(highlight=False, soft_wrap=True)
    machine = document["machine"]
    name = machine["processor"].strip() or machine["vendor"]
    console.print(f"{name}, {machine['bits']} bits, nothing else on it", markup=False)
    if machine["emulated"]:
        console.print("Emulated: caches and latencies are not shown.")
    if document["fault"]:
        console.print(f"It stopped: {document['fault']}", markup=False)
    for one in document["frequencies"]:
        console.print(f"counter by {one['by']:9} {one['hz_low']:,} to {one['hz_high']:,} Hz")
    console.print(f"{'ns':44} {'trials':>7} {'p5':>10} {'p50':>10} {'p95':>10}")
    for row in document["rows"]:
        values = (row[key] for key in ("p5_ns", "p50_ns", "p95_ns"))
        columns = " ".join(f"{DASH if value is None else value:>10}" for value in values)
        console.print(f"{row['name']:44} {row['trials']:>7} {columns}", markup=False)
