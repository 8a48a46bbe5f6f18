/* SPDX-License-Identifier: MIT */
/* readable: may this process read the processor's counter, and clocks through the vDSO? */
#ifndef COUNTER_READABLE_H
#define COUNTER_READABLE_H

#include <stdint.h>
#include <time.h>

/*
 * clock_gettime(), by the system call where the vDSO would raise SIGSEGV because the TSC is
 * switched off for this process. Returns 0 or -1.
 */
int counter_clock_gettime(clockid_t id, struct timespec *out);

/* The same as nanoseconds; INT64_MIN when the clock cannot be read. */
int64_t counter_clock_ns(clockid_t id);

#endif
