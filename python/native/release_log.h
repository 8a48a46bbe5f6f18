/* SPDX-License-Identifier: MIT */
/* release_log: the reading side of a calendar's log, for Python, which has no barriers. */
#ifndef TIMEBASE_NATIVE_RELEASE_LOG_H
#define TIMEBASE_NATIVE_RELEASE_LOG_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

/* Moves the oldest entries, at most `most`, to out, and says how many. For one thread at a time. */
TIMEBASE_API uint32_t timebase_release_log_take(struct timebase_release_log *log,
                                                struct timebase_release *out, uint32_t most);

/* How many the ring had no room for, so far. */
TIMEBASE_API uint32_t timebase_release_log_lost(const struct timebase_release_log *log);

TIMEBASE_EXTERN_END

#endif
