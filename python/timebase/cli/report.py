# SPDX-License-Identifier: MIT
"""timebase report: one HTML file that says whether this clock can be trusted and used."""

from __future__ import annotations

from pathlib import Path

import typer

from timebase.cli.output import JSON_OPTION, print_json, progress_bars, require_modules

NEEDED = ("numpy", "matplotlib", "jinja2")


def report(
    out: Path = typer.Option(Path("timebase-report.html"), help="The file to write."),
    quick: bool = typer.Option(False, "--quick", help="Shorter measurements: below 25 s."),
    languages: Path = typer.Option(
        None, help="Show these readings of `make languages`: bench/results/languages.json."
    ),
    json: bool = JSON_OPTION,
) -> None:
    """Measure this machine and write a self-contained HTML report."""
    from timebase.report.file import require_writable, write_whole

    # Both are checked before the minute of measuring, not after it.
    require_modules("the report", *NEEDED)
    require_writable(out)
    document, html = _make(quick, languages)
    write_whole(out, html)
    if json:
        print_json(document)
    else:
        print(f"{document['verdict']['headline']}\nreport: {out}")


def _make(quick: bool, languages: Path | None) -> tuple[dict, str]:
    from timebase.report.build import build
    from timebase.report.languages import read
    from timebase.report.measure import FULL, QUICK, measure

    spoken = read(languages) if languages else None
    extent = QUICK if quick else FULL
    with progress_bars(total=extent.total_sec) as start:
        document = measure(extent, start)
        drawn = start("drawing", extent.drawing_sec)
        html = build(document, spoken)
        drawn(1.0)
    return document, html
