# SPDX-License-Identifier: MIT
"""How the readers of single values complain."""

from __future__ import annotations


class WrongValue(ValueError):
    """What is wrong with a value and what to write, as the end of a sentence."""
