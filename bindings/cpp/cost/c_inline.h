/* SPDX-License-Identifier: MIT */
#ifndef COST_C_INLINE_H
#define COST_C_INLINE_H

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

/* So many readings, one after the other. */
void c_utc_ns(const timebase_clock *clock, uint64_t calls);
void c_mono_ns(const timebase_clock *clock, uint64_t calls);
void c_utc_bounded(const timebase_clock *clock, uint64_t calls);
void c_ticks(const timebase_clock *clock, uint64_t calls);

TIMEBASE_EXTERN_END

#endif
