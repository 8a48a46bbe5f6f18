/* SPDX-License-Identifier: MIT */
/* wakeups: how late the kernel wakes the calling thread up. */
#ifndef TIMEBASE_BENCH_WAKEUPS_H
#define TIMEBASE_BENCH_WAKEUPS_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

/*
 * Sleeps `sleeps` times until the next instant of a grid of period_ns, 1 us to 1 s, by an absolute
 * clock_nanosleep on CLOCK_MONOTONIC. late_ns[i] is wake-up - instant, as CLOCK_MONOTONIC shows it
 * after the call. Instants that passed meanwhile are left out. Returns 0, or TIMEBASE_E_INVALID,
 * TIMEBASE_E_UNSUPPORTED if the kernel refuses to sleep.
 */
TIMEBASE_API int timebase_bench_wakeups(uint32_t sleeps, uint64_t period_ns, int64_t *late_ns);

TIMEBASE_EXTERN_END

#endif
