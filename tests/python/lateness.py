# SPDX-License-Identifier: MIT
"""When the process' own clock knows its pace, and in which rounds it published all lines in time."""

import time

import pytest

import timebase


def statistics_with_a_pace(clock):
    """Its statistics after two samples, some time apart: before, no frequency is known."""
    for _ in range(10_000):
        clock.utc_ns()
        statistics = clock.statistics()
        if statistics["frequency_hz"] > 0:
            break
        time.sleep(0.001)
    return statistics


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
