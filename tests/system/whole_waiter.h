/* SPDX-License-Identifier: MIT */
/*
 * whole_waiter: every way to wait, with each flag and many combinations, and what holds whatever
 * the delay. For children: failure ends the process.
 */
#ifndef TEST_WHOLE_WAITER_H
#define TEST_WHOLE_WAITER_H

#include "../unit/waiting.h"
#include "child.h"

static inline void whole_waiter_check_wait(struct timebase_waiter *waiter, enum way way,
                                           unsigned flags)
{
    struct timebase_wait_result result;
    int64_t target = target_in(way, flags & TIMEBASE_WAIT_SLEEP ? 200000 : 5000);
    forget_event();
    uint64_t before = timebase_ticks_ordered();
    int late = wait_by(waiter, way, target, flags, &result);
    uint64_t after = timebase_ticks_ordered();
    EXPECT(late == 0 || late == 1);
    EXPECT(late == result.late);
    EXPECT(event.calls == calls_a_function(way));
    EXPECT((int64_t)(result.event_ticks - before) >= 0);
    EXPECT((int64_t)(after - result.event_ticks) >= 0);
    EXPECT(result.disturbance <= EVERY_DISTURBANCE);
    if (flags & TIMEBASE_WAIT_NEVER_EARLY)
        EXPECT((int64_t)(result.event_ticks - result.target_ticks) >= 0);
}

static inline void whole_waiter_check_delays(struct timebase_waiter *waiter)
{
    double per_ns = ticks_per_ns();
    for (uint64_t ns = 0; ns < 30000; ns = 2 * ns + 10) {
        EXPECT(timebase_delay_ns(waiter, ns, 0, NULL) >= 0);
        uint64_t before = timebase_ticks_ordered();
        EXPECT(timebase_delay_ns(waiter, ns, TIMEBASE_WAIT_NEVER_EARLY, NULL) >= 0);
        EXPECT((double)(timebase_ticks_ordered() - before) >= (double)ns * per_ns * 0.999 - 1);
    }
}

static inline void whole_waiter_check(struct timebase_waiter *waiter)
{
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags += flags < 8 ? 1 : 5)
        for (enum way way = 0; way < WAYS; way++)
            whole_waiter_check_wait(waiter, way, flags);
    whole_waiter_check_delays(waiter);
    EXPECT(timebase_waiter_calibrate(waiter) == 0);
    whole_waiter_check_wait(waiter, CALL_TICKS, 0);
}

#endif
