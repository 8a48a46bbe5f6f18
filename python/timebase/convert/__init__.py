# SPDX-License-Identifier: MIT
"""Ticks found in other programs' text, and what they meant: for `timebase convert`."""
