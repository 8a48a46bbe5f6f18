# SPDX-License-Identifier: MIT
"""Turns matplotlib's SVG into one that fits into an HTML page: it has the page's colours and
letters, no foreign addresses, and the width of its column."""

from __future__ import annotations

import io
import re

# Stand-ins for colours. Each is replaced by a variable, which the page defines for light and for
# dark.
COLOURS = {
    "ink": "#010203",
    "muted": "#020304",
    "grid": "#030405",
    "ours": "#040506",
    "kernel": "#050607",
    "article": "#060708",
}


def inline_svg(figure, title: str) -> str:
    """The figure as an <svg> element with `title` for those who cannot see it."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": title}):  # else two plots share ids
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    return _for_html(buffer.getvalue(), title)


def _for_html(text: str, title: str) -> str:
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\s+xmlns(:\w+)?=\"[^\"]*\"", "", text)
    text = re.sub(r"<g id=\"[^\"]*\"", "<g", text)
    view = re.search(r"viewBox=\"[^\"]*\"", text).group()
    text = re.sub(r"<svg[^>]*>", f'<svg {view} role="img"><title>{title}</title>', text, count=1)
    # "font: 9px 'DejaVu Sans', ..." -> "font-size: 9px": the letters are the page's
    text = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", text)
    for name, stand_in in COLOURS.items():
        text = text.replace(stand_in, f"var(--{name})")
    return re.sub(r"\n\s*", "\n", text)
