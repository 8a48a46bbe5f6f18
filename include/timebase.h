/* SPDX-License-Identifier: MIT */
/*
 * timebase: time from the processor's own counter.
 *
 *     #include <timebase.h>                       // pkg-config --cflags --libs timebase
 *
 *     const timebase_clock *clock = timebase_clock_default();
 *     int64_t now = timebase_utc_ns(clock);       // nanoseconds since 1970-01-01 UTC
 *
 * Each header is the manual of its noun. Read them in this order:
 *
 *     error.h      what a negative result means
 *     counter.h    ticks: reading the counter, and what is known about it
 *     cpus.h       do the counters of this machine's CPUs agree?
 *     page.h       what a tick means: the published lines
 *     clock.h      time: UTC, monotonic, TAI, bounds, conversion
 *     interval.h   which of two events came first, and waiting until that is certain
 *     timeline.h   what a tick meant, long afterwards
 *     stopwatch.h  durations of a few instructions, without the cost of measuring
 *     wait.h       start at an exact tick, and how well that went
 *     realtime.h   what punctual threads ask of the kernel, and give back
 *     calendar.h   units of work dispatched at their times
 *
 * C11 or C++17, GCC or Clang. All functions may be called from any thread and, unless their
 * comment says otherwise, from a signal handler. Nothing here prints or exits, and nothing but
 * timebase_clock_attach(), cpus.h and timeline.h take memory.
 */
#ifndef TIMEBASE_H
#define TIMEBASE_H

#include <timebase/version.h>

#include <timebase/error.h>

#include <timebase/counter.h>

#include <timebase/cpus.h>

#include <timebase/page.h>

#include <timebase/clock.h>

#include <timebase/interval.h>
#include <timebase/timeline.h>

#include <timebase/stopwatch.h>

#include <timebase/wait.h>

#include <timebase/realtime.h>

#include <timebase/calendar.h>

#endif
