# SPDX-License-Identifier: MIT
"""How times are written and read by people: durations, UTC."""
