# SPDX-License-Identifier: MIT
"""Rounds of readings in which the process' own clock published all its lines in time."""

import pytest

import timebase


def in_time(look, wanted=4, most=200):
    """What look() returned in so many rounds. Time may go back, within its bound, where lines were
    published after their first tick; the clock counts these, and their rounds are left out."""
    clock, found = timebase.default_clock(), []
    for number in range(1, most + 1):
        late = clock.statistics()["late_publications"]
        result = look()
        if clock.statistics()["late_publications"] == late:
            found.append(result)
        if len(found) == wanted:
            print(f"{wanted} of {number} rounds were without late publications")
            return found
    return pytest.skip(f"{most - len(found)} of {most} rounds had late publications")
