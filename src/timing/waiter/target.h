/* SPDX-License-Identifier: MIT */
/*
 * target: which targets a wait refuses for lying too far away.
 *
 * The counter wraps at 2^64, and need not begin at 0. So a tick is ahead or has passed by the
 * signed difference from now: a target from before the counter's 0 has passed like any other.
 */
#ifndef WAITER_TARGET_H
#define WAITER_TARGET_H

#include <stdint.h>

/* More than a century ahead is a mistake. */
#define TARGET_FARTHEST_NS (INT64_C(100) * 366 * 86400 * 1000000000)
/*
 * At 2.9 GHz a century is half of the counter's range. Near that half "ahead" and "passed" cannot
 * be told apart, so a band around it counts as neither. The band also leaves room for what a delay
 * adds.
 */
#define TARGET_FARTHEST_TICKS (0x1p63 - 0x1p34)

static inline int target_is_far(double left_ticks, double period_ns)
{
    return left_ticks * period_ns > (double)TARGET_FARTHEST_NS ||
        left_ticks > TARGET_FARTHEST_TICKS;
}

/* A caller that gives the last of all ticks means "never": the event must not come at once. */
static inline int target_tick_is_far(uint64_t target_ticks, uint64_t now_ticks, double period_ns)
{
    double left_ticks = (double)(int64_t)(target_ticks - now_ticks);
    return target_ticks == UINT64_MAX || left_ticks < -TARGET_FARTHEST_TICKS ||
        target_is_far(left_ticks, period_ns);
}

/* A time may lie anywhere in the past. */
static inline int target_time_is_far(int64_t target_ns, int64_t now_ns)
{
    return target_ns > now_ns && (uint64_t)target_ns - (uint64_t)now_ns > TARGET_FARTHEST_NS;
}

#endif
