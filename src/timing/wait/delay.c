/* SPDX-License-Identifier: MIT */
#include "delay.h"

/* In a longer delay an exact wait has the time for its fine reading, its polls and its sample. */
enum { SHORT_DELAY_NS = 1600 };

/*
 * One in FOLLOWED of the delays without a result is tracked. Delays that are not long compared with
 * two readings are not counted for this.
 */
enum { FOLLOWED = 16, FOLLOWED_DELAY_NS = 300 };

static uint64_t instructions(const struct waiter *waiter, double ticks, enum delay_kind kind)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double count = (ticks - learnt->delay_fixed_ticks[kind]) / learnt->run_ticks + 0.5;
    return count > 0 ? (uint64_t)count : 0;
}

/*
 * Follows the length of an instruction by two readings around a delay. Beside busy machines one
 * delay in ten is held up by some 0.1 us: if these counted in full, all others would become too
 * short. But if a calibration was held up, or the core clock stepped, all delays are wrong and must
 * count.
 */
static void follow_run(struct waiter *waiter, enum delay_kind kind, uint64_t count,
                       uint64_t elapsed_ticks)
{
    enum { MORE_TICKS = 8 }; /* than the counter's step */
    struct waiter_learnt *learnt = &waiter->learnt;
    double run = (double)elapsed_ticks - learnt->delay_read_ticks[kind];
    double believed = (double)count * learnt->run_ticks;
    if (waiter->is_calibrating || believed * learnt->period_ns < FOLLOWED_DELAY_NS / 2)
        return;
    waiter->run.value = learnt->run_ticks;
    estimate_learn(&waiter->run, run, (double)count, waiter->vernier.step_ticks + MORE_TICKS);
    learnt->run_ticks = waiter->run.value;
}

static int run_delay(struct waiter *waiter, double ticks)
{
    uint64_t count = instructions(waiter, ticks, DELAY_BARE);
    waiter->ways.run(count);
    return count == 0;
}

/* Takes no evidence: this may run in the function of a wait, to which the evidence belongs. */
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
    evidence_forget(&waiter->approach);
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

int delay_is_short(const struct waiter *waiter, uint64_t delay_ns, unsigned flags)
{
    return waiter->ways.run != NULL && waiter->learnt.run_ticks > 0 && delay_ns < SHORT_DELAY_NS &&
        !(flags & ~(unsigned)(TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_STEADY));
}

int delay_by_instructions(struct waiter *waiter, uint64_t delay_ns,
                          struct timebase_wait_result *result)
{
    double ticks = (double)delay_ns / waiter->learnt.period_ns;
    if (result != NULL)
        return run_measured_delay(waiter, ticks, result);
    return next_kind(waiter, delay_ns) == DELAY_FOLLOWED ? run_followed_delay(waiter, ticks)
                                                         : run_delay(waiter, ticks);
}

/* Rounded up where it must not end early. */
struct wait delay_as_wait(struct waiter *waiter, double ticks, unsigned flags,
                          struct timebase_wait_result *result)
{
    struct wait wait = {.waiter = waiter, .flags = flags, .result = result};
    struct timebase_fine_reading start;
    uint64_t base = timebase_ticks();
    wait.entered_ticks = base;
    waiter_read_fine(waiter, base, &start);
    double bias =
        flags & TIMEBASE_WAIT_NEVER_EARLY ? 0 : waiter->learnt.delay_bias_ticks[result != NULL];
    double end = start.ticks + ticks - bias;
    int64_t whole = end > 0 ? (int64_t)end : 0;
    wait.fraction = end - (double)whole;
    wait.ticks = base + (uint64_t)whole + (flags & TIMEBASE_WAIT_NEVER_EARLY ? 1 : 0);
    return wait;
}
