/* SPDX-License-Identifier: MIT */
/*
 * delay: so long from the call to the return; the `mdelay` that the report of 1997 planned for
 * Maruti. A short one is a run of instructions, timed by the core clock alone: the counter may
 * step by 10 ns, and reading it finely takes 200. A long one is a fine reading and an exact wait.
 */
#include <stddef.h>

#include "waiter.h"

/* A longer one leaves an exact wait the time for its fine reading, its polls and its sample. */
enum { SHORT_DELAY_NS = 1600 };

static uint64_t instructions(const struct waiter *waiter, double ticks, int measured)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double count = (ticks - learnt->delay_fixed_ticks[measured]) / learnt->run_ticks + 0.5;
    return count > 0 ? (uint64_t)count : 0;
}

static int run_delay(struct waiter *waiter, double ticks)
{
    uint64_t count = instructions(waiter, ticks, 0);
    waiter->ways.run(count);
    return count == 0;
}

/* Two plain readings around it: good to a step of the counter. */
static int run_measured_delay(struct waiter *waiter, double ticks,
                              struct timebase_wait_result *result)
{
    struct timebase_wait_result done = {0};
    uint64_t count = instructions(waiter, ticks, 1), start = timebase_ticks_ordered();
    waiter->uses++;
    evidence_begin(&waiter->evidence, &waiter->approach);
    waiter->ways.run(count);
    done.event_ticks = timebase_ticks();
    done.disturbance = evidence_now(&waiter->evidence, &waiter->approach);
    evidence_clear(&waiter->evidence, &waiter->approach);
    done.target_ticks = start + (uint64_t)(ticks + 0.5);
    done.error_ticks = (int64_t)(done.event_ticks - done.target_ticks);
    done.error_ns = (double)done.error_ticks * waiter->learnt.period_ns;
    done.error_bound_ns = waiter->vernier.step_ticks * waiter->learnt.period_ns;
    done.mechanism = TIMEBASE_MECHANISM_RUN;
    done.late = count == 0;
    *result = done;
    return done.late;
}

TIMEBASE_API int timebase_delay_ns(struct timebase_waiter *public, uint64_t delay_ns,
                                   unsigned flags, struct timebase_wait_result *result)
{
    struct waiter *waiter = public != NULL ? waiter_within(public) : NULL;
    if (waiter == NULL || waiter->magic != WAITER_MAGIC)
        return TIMEBASE_E_INVALID;
    double ticks = (double)delay_ns / waiter->learnt.period_ns;
    if (waiter->ways.run != NULL && waiter->learnt.run_ticks > 0 && delay_ns < SHORT_DELAY_NS &&
        !(flags & ~(unsigned)TIMEBASE_WAIT_PREPARE))
        return result != NULL ? run_measured_delay(waiter, ticks, result)
                              : run_delay(waiter, ticks);
    return waiter_delay(public, ticks, flags, result);
}
