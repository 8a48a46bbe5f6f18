# SPDX-License-Identifier: MIT
"""Time-outs of Python callables strike whom they are meant for, once, and nobody afterwards."""

import threading

from timebase import UnitTimedOut
from timebase.run.watchdog import Watch, Watchdog


def in_thread(function):
    """What the function returned."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def struck_while_armed(watchdog, strike, begin_ns=5):
    """Whether UnitTimedOut came while armed since `begin_ns`."""

    def work():
        try:
            watchdog.arm(begin_ns)
            strike()
            for _ in range(1000):  # instructions between which it may come
                pass
            watchdog.disarm()
        except UnitTimedOut:
            watchdog.disarm()
            return True
        return False

    return in_thread(work)


def test_strike_is_felt():
    watchdog = Watchdog(1)
    assert struck_while_armed(watchdog, watchdog.strike)
    assert struck_while_armed(watchdog, lambda: watchdog.strike(5))


def test_strike_for_an_earlier_run_is_not_felt():
    watchdog = Watchdog(1)
    assert not struck_while_armed(watchdog, lambda: watchdog.strike(4))


def test_strike_is_felt_once():
    watchdog = Watchdog(1)
    strikes = []

    def work():
        try:
            watchdog.arm(5)
            watchdog.strike()
            for _ in range(1000):
                pass
        except UnitTimedOut:
            strikes.append(1)
            watchdog.strike()
            for _ in range(1000):
                pass
            watchdog.disarm()
        return len(strikes)

    assert in_thread(work) == 1


def test_who_is_not_armed_is_not_struck():
    watchdog = Watchdog(1)

    def work():
        watchdog.strike()
        watchdog.arm(5)
        assert watchdog.disarm() is False
        watchdog.strike()
        for _ in range(1000):
            pass
        return "whole"

    assert in_thread(work) == "whole"


def test_time_out_strikes_and_none_does_not():
    old = 1  # ns since boot: longer ago than any time-out
    short, none = Watchdog(1), Watchdog(0)
    assert struck_while_armed(short, short.look, old)
    assert not struck_while_armed(none, none.look, old)


def test_watch_looks_after_those_that_have_a_time_out():
    watch = Watch([Watchdog(0), Watchdog(1_000_000)])
    (watched,) = watch.watchdogs
    watch.start()
    ended = threading.Event()

    def work():
        try:
            watched.arm(1)
            while not ended.is_set():
                pass
        except UnitTimedOut:
            watched.disarm()
            return "struck"
        return "ended"

    timer = threading.Timer(60, ended.set)
    timer.start()
    assert in_thread(work) == "struck"
    timer.cancel()
    watch.close()
    assert not watch.is_alive()
