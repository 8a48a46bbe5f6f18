# SPDX-License-Identifier: MIT
"""timebase accuracy: how close to its target work begins, here."""

from __future__ import annotations

from pathlib import Path

import typer

from timebase.cli.options import MaybeInt, MaybePath, MaybeText
from timebase.cli.output import JSON_OPTION, print_json, progress_bars, require_modules

DRAWING_SEC = 8


def accuracy(
    quick: bool = typer.Option(False, "--quick", help="Fewer trials: below half a minute, not 4."),
    json: bool = JSON_OPTION,
    out: Path = typer.Option(
        Path("timebase-accuracy"), help="Folder for the pictures (PNG and SVG) and accuracy.json."
    ),
    cpu: MaybeInt = typer.Option(None, help="The CPU to measure on; by default the last one."),
    only: MaybeText = typer.Option(
        None, help="One experiment: offset, hit, state, cold, timer, sleep or delay."
    ),
    seed: MaybeInt = typer.Option(None, min=0, help="Of the random targets; printed."),
    serial: MaybePath = typer.Option(
        None, help="Measure nothing: draw this log of the bare machine, beside what --out holds."
    ),
) -> None:
    """How close to its target work begins: our waits, the loop beside them, and a report of 1997."""
    from timebase.report.file import require_folder

    # Wrong input is refused before the minutes of measuring, not after them.
    require_modules("accuracy", "numpy", "matplotlib")
    require_folder(out)
    if serial is not None:
        if quick or only or cpu is not None or seed is not None:
            raise typer.BadParameter(
                "--serial measures nothing: of the others --out and --json alone"
            )
        _draw_log(serial, out, json)
        return
    document = _measure_and_draw(quick, out, cpu, only, seed)
    if json:
        print_json(document)
    else:
        from timebase.cli.accuracy_table import print_table

        print_table(document)
        print(f"pictures and numbers: {out}")


def _draw_log(serial: Path, out: Path, json: bool) -> None:
    from timebase.cli.accuracy_serial import draw_log, print_log

    document = draw_log(serial, out)
    if json:
        print_json(document)
    else:
        print_log(document)
        print(f"pictures and numbers: {out}")


def _measure_and_draw(quick: bool, out: Path, cpu, only, seed) -> dict:
    from timebase.accuracy import experiments
    from timebase.accuracy.experiments import chosen, expected_sec
    from timebase.accuracy.extent import FULL, QUICK
    from timebase.accuracy.session import choose_cpu
    from timebase.report.file import write_whole

    names, extent = chosen(only), QUICK if quick else FULL
    chosen_cpu = choose_cpu(cpu)
    from timebase.report.pictures import save  # half a second: after what is refused

    with progress_bars(total=expected_sec(extent, names) + DRAWING_SEC) as start:
        document = experiments.run(extent, cpu=chosen_cpu, names=names, seed=seed, start=start)
        save(document["figures"], out, start("drawing", DRAWING_SEC))
        write_whole(out / "accuracy.json", as_json(document))
    return document


def as_json(document: dict) -> str:
    """One line: the figures are long lists."""
    import json

    return json.dumps(document, ensure_ascii=False) + "\n"
