# SPDX-License-Identifier: MIT
"""Frequencies for people: no more digits than are known."""

from __future__ import annotations

import math


def show_frequency(hz: float, error_hz: float) -> str:
    """2,596,130,170 Hz give or take 45,250 Hz is "2,596.13 MHz ± 0.05 MHz (17 ppm)"."""
    if error_hz <= 0:
        return f"{hz / 1e6:,.6f} MHz"
    places = min(6, max(0, -math.floor(math.log10(error_hz / 1e6))))
    rounded_up = math.ceil(error_hz / 1e6 * 10**places) / 10**places
    ppm = error_hz / hz * 1e6
    return f"{hz / 1e6:,.{places}f} MHz ± {rounded_up:,.{places}f} MHz ({_show_ppm(ppm)} ppm)"


def _show_ppm(ppm: float) -> str:
    return f"{ppm:,.0f}" if ppm >= 10 else f"{ppm:.2g}"
