/* SPDX-License-Identifier: MIT */
#include "delay_long.h"

#include "timing/calibration/calibration.h"
#include "timing/delay/delay_asks.h"
#include "timing/learn/within.h"
#include "timing/stages/near_exact.h"
#include "timing/stages/stages.h"
#include "timing/waiter/readings.h"
#include "timing/waiter/target.h"

/*
 * When the delay was called, relative to its reading: less than a step after it. The fine reading
 * says more, if the way there took as long as it usually does. Cold code makes it longer, by up to
 * 0.1 us: then it was anywhere within the step.
 */
static double called_at(const struct waiter *waiter, double read_ticks, int is_cold)
{
    double later = read_ticks - waiter->learnt.delay_read_ticks[is_cold];
    double span = waiter->vernier.span_ticks, half = span / 2;
    int says_nothing = later < -half || later > span + half;
    return says_nothing ? half : within(0, later, span);
}

/* One that must not end early counts from the later reading, and is rounded up. */
static void set_target(struct wait *wait, double ticks, int is_cold)
{
    const struct waiter *waiter = wait->waiter;
    struct timebase_fine_reading read;
    waiter_intersect(waiter, waiter->delay_readings, wait->entered_ticks, &read);
    wait->read_ticks = read.ticks;
    int never_early = (wait->flags & TIMEBASE_WAIT_NEVER_EARLY) != 0;
    double end = ticks;
    end += never_early ? read.ticks
                       : called_at(waiter, read.ticks, is_cold) - waiter->learnt.delay_call_ticks;
    int64_t whole = end > 0 ? (int64_t)end : 0;
    wait->fraction = end - (double)(whole + never_early);
    wait->ticks = wait->entered_ticks + (uint64_t)whole + (uint64_t)never_early;
}

/* As a wait for a tick asked for now: what the reading took is no part of what that needs. */
APPROACH_WAY static int wait_from_here(struct wait *wait)
{
    wait->entered_ticks = timebase_ticks();
    struct hurried asked = hurried_of(wait);
    return near_exact_is_due(&asked) ? near_exact(&asked) : stages_run(wait);
}

/* Beside the flags of a long one: no other delay was soon before it, so it came by another way. */
enum { DELAY_COLD = WAITER_FLAGS + 1 };

APPROACH_WAY static int end_by_wait(void *of, uint64_t delay_ns, uint64_t flags, void *result,
                                    void *frame)
{
    struct waiter *waiter = (struct waiter *)of;
    double ticks = (double)delay_ns / waiter->learnt.period_ns;
    struct wait wait = {.waiter = waiter,
                        .flags = (unsigned)flags & WAITER_FLAGS,
                        .frame = frame,
                        .result = (struct timebase_wait_result *)result,
                        .entered_ticks = waiter->delay_called_ticks};
    if (target_is_far(ticks, waiter->learnt.period_ns))
        return TIMEBASE_E_INVALID;
    set_target(&wait, ticks, (flags & DELAY_COLD) != 0);
    calibrate_before(&wait);
    return wait_from_here(&wait);
}

APPROACH_WAY int delay_long(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                            struct timebase_wait_result *result, int is_cold)
{
    waiter_read(waiter, waiter->delay_readings);
    if (is_cold)
        delay_fetch_wait(waiter);
    return approach_from(waiter, delay_ns, flags | (is_cold ? DELAY_COLD : 0), result, end_by_wait);
}
