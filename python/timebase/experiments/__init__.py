# SPDX-License-Identifier: MIT
"""Measurements. Each module's run() returns plain data; the loops are in C (bench/)."""
