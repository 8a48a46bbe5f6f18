/* SPDX-License-Identifier: MIT */
#include "delay_pause.h"

#include <stddef.h>

#include "timing/approach/hide.h"

#include "delay_at_once.h"
#include "delay_lesson.h"
#include "delay_near.h"
#include "delay_short.h"

_Static_assert(DELAY_LINES_TO_RUN == 31 && DELAY_LINES_OF_DATA == 15 && DELAY_LINES_OF_RUN == 6,
               "unrolled as often as is said below: a loop would take longer than the roots");

/* Side by side: in the core's own caches the roots outlast it. */
APPROACH_WAY static inline void touch(const struct waiter *waiter)
{
#pragma GCC unroll 31
    for (unsigned line = 0; line < DELAY_LINES_TO_RUN; line++)
        approach_load(delay_code_line(line));
#pragma GCC unroll 15
    for (unsigned line = 0; line < DELAY_LINES_OF_DATA; line++)
        approach_load(delay_data_line(waiter, line));
#pragma GCC unroll 6
    for (unsigned line = 0; line < DELAY_LINES_OF_RUN; line++)
        approach_load(delay_run_line(waiter, line));
}

APPROACH_WAY static inline int is_near(struct waiter *waiter)
{
    touch(waiter);
    waiter->delay_touched_ticks = (int64_t)(timebase_ticks_ordered() - waiter->delay_called_ticks);
    APPROACH_HIDE(9);
    int is_far = waiter->delay_touched_ticks > waiter->learnt.touch_ticks;
    if (is_far)
        caution_doubles(&waiter->far_code);
    return !is_far;
}

/* Where the counter's steps are fine nothing is by a run: then its code was too far for anything better. */
APPROACH_WAY static inline int is_by_run(struct waiter *waiter, uint64_t delay_ns)
{
    if (waiter->learnt.near_delay_ticks == 0 || waiter->is_calibrating)
        return delay_ns < DELAY_SHORT_NS && is_near(waiter);
    caution_doubles(&waiter->far_code);
    return 0;
}

APPROACH_WAY int delay_after_pause(struct waiter *waiter, uint64_t delay_ns, unsigned flags)
{
    int64_t left = delay_near_left_after_pause(waiter, delay_ns, flags);
    if (left != 0)
        return approach_from(waiter, waiter->delay_called_ticks + (uint64_t)left, flags, NULL,
                             delay_near_after_pause);
    if (is_by_run(waiter, delay_ns))
        return delay_short(waiter, delay_ns, flags, NULL, DELAY_CODE_NEAR);
    return delay_at_once(waiter, delay_ns, delay_asks(waiter, delay_ns, flags, 1));
}
