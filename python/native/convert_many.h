/* SPDX-License-Identifier: MIT */
/* convert_many: an array of ticks in one call from Python, without a loop there. */
#ifndef TIMEBASE_NATIVE_CONVERT_MANY_H
#define TIMEBASE_NATIVE_CONVERT_MANY_H

#include <stddef.h>
#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

/* out[i] is timebase_utc_at_ns() of ticks[i], for i below count. */
TIMEBASE_API void timebase_utc_at_many(const timebase_clock *clock, const uint64_t *ticks,
                                       size_t count, int64_t *out);

TIMEBASE_EXTERN_END

#endif
