/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "calibration.h"

#include <sched.h>
#include <string.h>

#include "calibration_call.h"
#include "calibration_event.h"
#include "calibration_readings.h"
#include "outcome.h"

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

void calibrate(struct waiter *waiter)
{
    uint64_t start = timebase_ticks();
    outcome_settle_open(waiter);
    uint64_t waits = waiter->waits, late = waiter->late, disturbed = waiter->disturbed;
    memset(&waiter->learnt, 0, sizeof(waiter->learnt));
    waiter->is_calibrating = 1;
    waiter->learnt.period_ns = find_period_ns(waiter->clock);
    waiter->ways = ways_here();
    warm_up(waiter);
    waiter->cpu = sched_getcpu();
    calibrate_readings(waiter);
    calibrate_run(waiter);
    if (waiter->learnt.exact)
        calibrate_exact(waiter);
    calibrate_plain(waiter);
    /* Emulated or disturbed: the table may be worse than none. */
    if (waiter->learnt.exact_spread_ticks > 2 * waiter->learnt.plain_spread_ticks)
        waiter->learnt.exact = 0;
    calibrate_calls(waiter);
    waiter->waits = waits;
    waiter->late = late;
    waiter->disturbed = disturbed;
    waiter->is_calibrating = 0;
    waiter->calibrations++;
    waiter->calibration_ns = (double)(timebase_ticks() - start) * waiter->learnt.period_ns;
}
