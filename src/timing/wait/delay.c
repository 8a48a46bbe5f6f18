/* SPDX-License-Identifier: MIT */
/*
 * delay: so long from the call to the return; the `mdelay` that the report of 1997 planned for
 * Maruti. A short one is a run of instructions, timed by the core clock alone: the counter may
 * step by 10 ns, and reading it finely takes 200. A long one is a fine reading and an exact wait.
 *
 * The core clock drifts against the counter, so the length of an instruction is followed: from the
 * delays whose results are asked for, and from some of the others. A reading is good to a step, the
 * mean of many to far less.
 */
#include <stddef.h>

#include "waiter.h"

/* A longer one leaves an exact wait the time for its fine reading, its polls and its sample. */
enum { SHORT_DELAY_NS = 1600 };

/* One of so many is followed unasked; one that is long beside its readings. */
enum { FOLLOWED = 16, FOLLOWED_DELAY_NS = 300 };

static uint64_t instructions(const struct waiter *waiter, double ticks, enum delay_kind kind)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double count = (ticks - learnt->delay_fixed_ticks[kind]) / learnt->run_ticks + 0.5;
    return count > 0 ? (uint64_t)count : 0;
}

/*
 * A 64th of each difference, which is limited: an interruption that nobody saw moves it by a
 * thousandth.
 */
static void follow_run(struct waiter *waiter, enum delay_kind kind, uint64_t count,
                       uint64_t elapsed_ticks)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    double run = (double)count * learnt->run_ticks, most = run / 16;
    double wrong = (double)elapsed_ticks - run - learnt->delay_read_ticks[kind];
    if (waiter->is_calibrating || run * learnt->period_ns < FOLLOWED_DELAY_NS / 2)
        return;
    wrong = wrong < -most ? -most : wrong > most ? most : wrong;
    learnt->run_ticks += wrong / 64 / (double)count;
}

static int run_delay(struct waiter *waiter, double ticks)
{
    uint64_t count = instructions(waiter, ticks, DELAY_BARE);
    waiter->ways.run(count);
    return count == 0;
}

/* Without evidence, which belongs to the wait in whose function this may be. */
static int run_followed_delay(struct waiter *waiter, double ticks)
{
    uint64_t count = instructions(waiter, ticks, DELAY_FOLLOWED), start = timebase_ticks_ordered();
    waiter->ways.run(count);
    waiter->followed_ticks = timebase_ticks() - start;
    follow_run(waiter, DELAY_FOLLOWED, count, waiter->followed_ticks);
    return count == 0;
}

/* Two plain readings around it: good to a step of the counter. */
static int run_measured_delay(struct waiter *waiter, double ticks,
                              struct timebase_wait_result *result)
{
    struct timebase_wait_result done = {0};
    uint64_t count = instructions(waiter, ticks, DELAY_MEASURED), start = timebase_ticks_ordered();
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
    waiter->followed_ticks = done.event_ticks - start;
    if (done.disturbance == 0)
        follow_run(waiter, DELAY_MEASURED, count, waiter->followed_ticks);
    *result = done;
    return done.late;
}

static enum delay_kind next_kind(struct waiter *waiter, uint64_t delay_ns)
{
    if (waiter->is_calibrating)
        return waiter->calibrated_kind;
    if (delay_ns < FOLLOWED_DELAY_NS || ++waiter->short_delays % FOLLOWED != 0)
        return DELAY_BARE;
    return DELAY_FOLLOWED;
}

TIMEBASE_API int timebase_delay_ns(struct timebase_waiter *public, uint64_t delay_ns,
                                   unsigned flags, struct timebase_wait_result *result)
{
    struct waiter *waiter = public != NULL ? waiter_within(public) : NULL;
    if (waiter == NULL || waiter->magic != WAITER_MAGIC)
        return TIMEBASE_E_INVALID;
    double ticks = (double)delay_ns / waiter->learnt.period_ns;
    if (waiter->ways.run != NULL && waiter->learnt.run_ticks > 0 && delay_ns < SHORT_DELAY_NS &&
        !(flags & ~(unsigned)TIMEBASE_WAIT_PREPARE)) {
        if (result != NULL)
            return run_measured_delay(waiter, ticks, result);
        return next_kind(waiter, delay_ns) == DELAY_FOLLOWED ? run_followed_delay(waiter, ticks)
                                                             : run_delay(waiter, ticks);
    }
    return waiter_delay(public, ticks, flags, result);
}
