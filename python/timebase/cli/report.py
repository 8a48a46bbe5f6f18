# SPDX-License-Identifier: MIT
"""timebase report: one HTML file for whoever asks whether this clock can be trusted and used."""

from __future__ import annotations

from pathlib import Path

import typer

from timebase.cli.output import JSON_OPTION, print_json, progress_bars

NEEDED = ("numpy", "matplotlib", "jinja2")


def _require_modules(*modules: str) -> None:
    from importlib.util import find_spec

    from timebase.errors import TimebaseError

    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        lacks = ", ".join(missing)
        raise TimebaseError(f"the report needs {lacks}: pip install 'timebase[report]'")


def report(
    out: Path = typer.Option(Path("timebase-report.html"), help="The file to write."),
    quick: bool = typer.Option(False, "--quick", help="Shorter measurements: below 25 s."),
    json: bool = JSON_OPTION,
) -> None:
    """Measure this machine and write a self-contained HTML report."""
    from timebase.report.file import require_writable, write_whole

    # Both said before the minute of measuring, not after it.
    _require_modules(*NEEDED)
    require_writable(out)
    document, html = _make(quick)
    write_whole(out, html)
    if json:
        print_json(document)
    else:
        print(f"{document['verdict']['headline']}\nreport: {out}")


def _make(quick: bool) -> tuple[dict, str]:
    from timebase.report.build import build
    from timebase.report.measure import FULL, QUICK, measure

    extent = QUICK if quick else FULL
    with progress_bars(total=extent.total_sec) as start:
        document = measure(extent, start)
        drawn = start("drawing", extent.drawing_sec)
        html = build(document)
        drawn(1.0)
    return document, html
