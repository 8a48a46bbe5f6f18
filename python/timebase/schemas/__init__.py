# SPDX-License-Identifier: MIT
"""The JSON schemas of what each verb prints with --json: load("bench"). docs/json.md explains."""

from __future__ import annotations

import json
from importlib import resources


def load(verb: str) -> dict:
    return json.loads(resources.files(__name__).joinpath(f"{verb}.json").read_text("utf-8"))
