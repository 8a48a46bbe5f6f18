# SPDX-License-Identifier: MIT
"""The time from the processor's own counter.

>>> import timebase
>>> clock = timebase.default_clock()
>>> clock.utc_ns()                       # nanoseconds since 1970-01-01 UTC
>>> clock.interval()                     # where true UTC is, as far as anybody knows
>>> with timebase.Stopwatch() as elapsed:
...     work()
>>> print(elapsed.ns, elapsed.uncertainty_ns)

The C library is opened at the first use of any name here, not at import.
"""

from __future__ import annotations

import importlib

_NAMES = {
    "api.calendar": ("Calendar", "CFunction", "NotAdmittedError", "Unit", "learn_tick"),
    "api.calendar_result": ("Problem", "Release", "ReleaseBit", "TickComb", "UnitResult"),
    "api.clock": (
        "Attachment",
        "AttachmentState",
        "Clock",
        "Instant",
        "Interval",
        "Maintenance",
        "Status",
        "default_clock",
    ),
    "api.counter": ("Counter", "probe", "ticks", "ticks_ordered"),
    "api.errors": ("EnvironmentVariableError", "EstimateError", "TimebaseError", "UnitTimedOut"),
    "api.page": ("Page",),
    "api.realtime": ("Realtime", "RealtimeBit", "Refusal"),
    "api.stopwatch": ("Elapsed", "Stopwatch"),
    "api.timeline": ("Timeline", "TimelineError"),
    "api.wait": ("Waiter",),
    "api.wait_result": (
        "Disturbance",
        "Mechanism",
        "WaitFlag",
        "WaitResult",
        "WaiterDescription",
        "rehearsing",
    ),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str):
    if name == "__version__":
        value = importlib.import_module("timebase.api.version").version()
    elif name in _HOME:
        value = getattr(importlib.import_module(f"timebase.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"module 'timebase' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*_HOME, "__version__"])
