/* SPDX-License-Identifier: MIT */
/*
 * calibrate: the machine as waits see it. In order, since each step needs the one before:
 *
 *   warm up     until the core clock stands still, or 3 ms
 *   readings    step and phase of the counter, distances of the vernier's readings
 *   run         ticks from the clean sample to the event, by the length of the run: the table
 *   exact       waits at random targets: bias, spread, earliest; return after the event
 *   plain       the same with the polling loop
 *   delay       ticks of a run alone, by its length
 *
 * Events are measured by a fine reading as their first act. Some 3 ms after the warm-up. Means are
 * trimmed: an interrupt spoils the trials it hits, not the result.
 */
#include <string.h>

#include "calibrate.h"

static uint64_t time_of_work(void)
{
    uint64_t start = timebase_ticks_ordered();
    for (int i = 0; i < 20000; i++)
        __asm__ __volatile__("");
    return timebase_ticks_ordered() - start;
}

/* Until four rounds in a row took the same to 0.4 %. */
static void warm_up(const struct waiter *waiter)
{
    uint64_t end = timebase_ticks() + (uint64_t)(3e6 / waiter->learnt.period_ns);
    uint64_t before = 0;
    for (int steady = 0; steady < 4 && (int64_t)(timebase_ticks() - end) < 0;) {
        uint64_t now = time_of_work();
        uint64_t change = now > before ? now - before : before - now;
        steady = change <= now / 256 ? steady + 1 : 0;
        before = now;
    }
}

/* The approaches read the processor's counter, whatever the clock takes its ticks from. */
static struct approach_ways ways_here(void)
{
    struct approach_ways none = {NULL, NULL, NULL, NULL, TIMEBASE_MECHANISM_LOOP};
    return timebase_counter_id() == TIMEBASE_COUNTER_OS ? none : approach_ways();
}

static double find_period_ns(const timebase_clock *clock)
{
    int64_t now_ns = timebase_mono_ns(clock);
    uint64_t ticks =
        timebase_ticks_at_mono(clock, now_ns + 1000000000) - timebase_ticks_at_mono(clock, now_ns);
    return ticks > 0 ? 1e9 / (double)ticks : 1;
}

void waiter_calibrate(struct timebase_waiter *public)
{
    struct waiter *waiter = waiter_within(public);
    uint64_t start = timebase_ticks();
    waiter_settle(waiter);
    uint64_t waits = waiter->waits, late = waiter->late, disturbed = waiter->disturbed;
    memset(&waiter->learnt, 0, sizeof(waiter->learnt));
    waiter->is_calibrating = 1;
    waiter->learnt.period_ns = find_period_ns(waiter->clock);
    waiter->ways = ways_here();
    warm_up(waiter);
    waiter->cpu = waiter_current_cpu(waiter);
    calibrate_readings(waiter);
    calibrate_run(waiter);
    if (waiter->learnt.exact)
        calibrate_exact(waiter);
    calibrate_plain(waiter);
    /* Emulated or disturbed: the table may be worse than none. */
    if (waiter->learnt.exact_spread_ticks > 2 * waiter->learnt.plain_spread_ticks)
        waiter->learnt.exact = 0;
    calibrate_calls(public);
    waiter->waits = waits;
    waiter->late = late;
    waiter->disturbed = disturbed;
    waiter->is_calibrating = 0;
    waiter->calibrations++;
    waiter->calibration_ns = (double)(timebase_ticks() - start) * waiter->learnt.period_ns;
}
