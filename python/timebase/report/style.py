# SPDX-License-Identifier: MIT
"""The style of all pictures: letters, lines, a light grid."""

from __future__ import annotations

from collections.abc import Mapping

WIDTH_IN = 5.0  # narrow: the letters can still be read on a phone


def style(colours: Mapping[str, str]) -> dict:
    """matplotlib's settings; the colours are ink, muted and grid."""
    ink, muted, grid = colours["ink"], colours["muted"], colours["grid"]
    return {
        "svg.fonttype": "none",
        "font.size": 8.5,
        "text.color": ink,
        "axes.edgecolor": grid,
        "axes.labelcolor": muted,
        "xtick.color": muted,
        "ytick.color": muted,
        "xtick.labelcolor": muted,
        "ytick.labelcolor": ink,
        "axes.grid": True,
        "grid.color": grid,
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "xtick.major.size": 0,
        "ytick.major.size": 0,
    }
