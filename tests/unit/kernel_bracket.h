/* SPDX-License-Identifier: MIT */
/* kernel_bracket: the kernel's monotonic clock between two readings of the counter, into a sample. */
#ifndef TEST_KERNEL_BRACKET_H
#define TEST_KERNEL_BRACKET_H

#include <timebase/counter.h>

#include "clock/discipline/discipline.h"
#include "kernel_now.h"

/* Moved by so much. The narrowest of five: this thread may be held up in any. */
static inline void take_kernel_bracket(int64_t moved_ns, struct discipline_sample *sample)
{
    for (int i = 0; i < 5; i++) {
        uint64_t before = timebase_ticks_ordered();
        int64_t mono_ns = kernel_now(CLOCK_MONOTONIC) + moved_ns;
        uint64_t after = timebase_ticks_ordered();
        if (i > 0 && after - before >= sample->ticks_after - sample->ticks_before)
            continue;
        sample->ticks_before = before;
        sample->mono_ns = mono_ns;
        sample->ticks_after = after;
    }
}

#endif
