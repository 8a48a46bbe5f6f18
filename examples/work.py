# SPDX-License-Identifier: MIT
"""work: the Python callable of work.toml."""

notes = []


def note():
    """Called without arguments, on the dispatcher's thread."""
    notes.append(len(notes))
