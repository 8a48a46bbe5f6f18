# SPDX-License-Identifier: MIT
"""Two rules of the Python package, which need nothing of it: which percentiles so many values can
carry, and when a core is shared. This program runs without the package installed."""

import importlib.util

from toolchain import ROOT


def _module(name):
    path = ROOT / "python" / "timebase" / "bench" / f"{name}.py"
    about = importlib.util.spec_from_file_location(f"timebase_{name}", path)
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    return module


percentile = _module("percentile")
neighbour = _module("neighbour")
