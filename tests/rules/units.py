# SPDX-License-Identifier: MIT
"""Who may know whom, in C: the table that rules/arrows checks. For Python see pyproject.toml.

An arrow is an include, or a call of a function that another unit defines. Every unit may use the
public headers, and call what they declare (`timebase_...`).
"""

import re

# ---- the layers, from below: each unit, and the units that it may use. A file belongs to the unit
# ---- that has its name, or to that of the nearest folder around it.

# fmt: off
UNITS = {
    # The library: what reading and keeping a clock needs.
    "src/clock/line": [],  # fixed-point numbers, and what a line makes of a tick
    "src/clock/counter": [],  # which counter, and what is known of it
    "src/clock/page": [],  # pure: conversion and validation; publish.c alone writes pages
    "src/clock/stopwatch": ["src/clock/counter"],
    "src/clock/interval": [],  # waits for a bound, by the public reads
    "src/clock/discipline": ["src/clock/line"],  # pure: samples in, lines out
    "src/clock/servo": [  # pure: the one loop, from a sample to a publication
        "src/clock/line", "src/clock/page", "src/clock/discipline"],
    "src/clock/reference": [  # the kernel's clocks; it fills a sample
        "src/clock/counter", "src/clock/discipline"],
    "src/clock/space": [],  # which memory this is
    "src/clock/owner": ["src/clock/space"],  # which thread in which memory
    "src/clock": [  # a clock as such: the cell, reading it, symbols
        "src/clock/line", "src/clock/counter", "src/clock/page", "src/clock/owner"],
    "src/clock/attach": [  # a clock by another's lines: it trusts them or not, and disciplines none
        "src/clock", "src/clock/line", "src/clock/counter", "src/clock/page"],
    "src/clock/own": [  # a clock by a reference
        "src/clock", "src/clock/line", "src/clock/counter", "src/clock/page",
        "src/clock/discipline", "src/clock/servo", "src/clock/reference"],
    # The library: what is done with a clock.
    "src/timeline": [],
    "src/timing/approach": ["src/clock/counter"],  # the last 40 ns, by processor; their evidence
    "src/timing/learn": ["src/timing/approach"],  # numbers that follow what waits see
    "src/timing/sleep": ["src/clock/counter"],  # how a thread passes time, and its margin
    "src/timing/waiter": [  # what is known of one, and where its next approach aims
        "src/timing/approach", "src/timing/learn", "src/timing/sleep"],
    "src/timing/hurry": [  # a wait that is a loop
        "src/timing/approach", "src/timing/learn", "src/timing/waiter"],
    "src/timing/stages": [  # one wait
        "src/timing/approach", "src/timing/learn", "src/timing/sleep", "src/timing/waiter",
        "src/timing/hurry"],
    "src/timing/delay": [  # one short delay
        "src/timing/approach", "src/timing/learn", "src/timing/waiter", "src/timing/stages"],
    "src/timing/calibration": [
        "src/clock/counter", "src/timing/approach", "src/timing/learn", "src/timing/waiter",
        "src/timing/hurry", "src/timing/stages", "src/timing/delay"],
    "src/timing/wait": [  # the public functions
        "src/timing/approach", "src/timing/learn", "src/timing/sleep", "src/timing/waiter",
        "src/timing/hurry", "src/timing/stages", "src/timing/delay", "src/timing/calibration"],
    "src/timing/realtime": ["src/clock/space"],
    "src/timing/calendar": ["src/clock/owner"],  # by the public waits, so also in virtual time
    "src/sync": ["src/clock/counter"],  # two CPUs throw readings of the counter to each other
    # A library of its own, for programs that cannot be changed.
    "src/preload": ["src/clock/counter"],
    # The daemon.
    "daemon/log": [],
    "daemon/config": ["daemon/log"],
    "daemon/timeline": ["daemon/log", "daemon/config", "src/timeline"],
    "daemon/sources": [
        "daemon/log", "daemon/config", "src/clock/line", "src/clock/counter",
        "src/clock/discipline", "src/clock/reference"],
    "daemon": [
        "daemon/log", "daemon/config", "daemon/timeline", "daemon/sources", "src/sync",
        "src/clock/line", "src/clock/counter", "src/clock/page", "src/clock/discipline",
        "src/clock/servo", "src/clock/reference"],
    # A machine without a system: the library's files again, and what stands in for a system.
    "platform/baremetal": [
        "src/clock", "src/clock/line", "src/clock/counter", "src/clock/page",
        "src/clock/discipline", "src/clock/servo", "src/clock/reference", "src/clock/own",
        "src/timing/approach", "src/timing/sleep", "src/timing/calendar"],
    # In the kernel: the library's measurement again.
    "platform/linux-module": ["src/sync"],
    # Users: the public headers are all they know of the library.
    "measure": [],
    "bench": ["measure"],
    "examples": [],
    "python": [],
}
# fmt: on

# The public headers, from below; each includes only those before it. Those of the first line may
# be included by all, and include nothing but one another.
FOUNDATION = {"version", "attributes", "error", "arithmetic"}
PUBLIC = [
    "arch",
    "counter",
    "cpus",
    "page",
    "clock",
    "interval",
    "timeline",
    "stopwatch",
    "wait",
    "realtime",
    "calendar",
]

# No I/O, no clock, no allocation, no floating point: the same code in a library, a simulator, a
# kernel. What it may include beside itself; what it may not call. See also rules/pure.
PURE = ["src/clock/line", "src/clock/page", "src/clock/discipline", "src/clock/servo"]
PURE_HEADERS = {
    "timebase/error.h",
    "timebase/page.h",
    "timebase/arithmetic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "limits.h",
}
IMPURE = re.compile(
    r"^(clock_\w+|gettimeofday|time|adjtimex|syscall|prctl|malloc|calloc|free|"
    r"printf|fprintf|getpid|nanosleep|usleep|open|read|write|"
    r"timebase_ticks\w*|timebase_arch_\w+|timebase_page_(read|ticks)|"
    r"timebase_(utc|mono|tai)_\w+|timebase_now|counter_\w+|reference_\w+)$"
)

# Who stores into a page; into what is made of a page's words; into the fields of 2007.
PAGE_WRITERS = {
    "src/clock/page/publish",
    "include/timebase/page",
    "src/clock/counter/by_cpu",
    "src/preload/line",
    "measure/tb_nano_2007",
    "examples/power/systemcfg",
}
