/* SPDX-License-Identifier: MIT */
#include "calibration_counted.h"

#include "timing/delay/delay_counted.h"
#include "timing/delay/delay_short.h"
#include "timing/learn/quantile.h"
#include "timing/learn/within.h"

#include "calibration_delay.h"
#include "calibration_trials.h"

/* A short one by the rate that a long one right behind it shows: the next pair may have another. */
double calibration_counted_first(struct waiter *waiter)
{
    enum { PAIRS = 128, SHORT = 60, LONGER = 3000 };
    double cycles[PAIRS], reach = trials_reach_ticks(waiter) / waiter->tempo.cycle_ticks;
    for (int i = 0; i < PAIRS; i++) {
        calibration_delay_pass_phases(waiter);
        double shorter = calibration_chain_ticks(waiter, SHORT);
        double longer = calibration_chain_ticks(waiter, SHORT + LONGER);
        cycles[i] = shorter * LONGER / (longer - shorter) - SHORT;
    }
    return quantile_mean_about(cycles, PAIRS, reach);
}

/* Ticks, as if nothing were in it but the chain; and what of them comes behind its last reading. */
static double find_way(struct waiter *waiter, enum delay_way way, double *after_ticks)
{
    enum { ONE_NS = 300 };
    waiter->calibrated_way = way;
    return calibration_delay_fixed(waiter, ONE_NS, 0, after_ticks);
}

/*
 * What nothing follows later counts as the middle of some rounds; a difference is of one round. Returns
 * how long it takes to come to the second reading.
 */
static double find_ways(struct waiter *waiter)
{
    enum { ROUNDS = CALIBRATION_ROUNDS };
    double less[ROUNDS], stamp[ROUNDS], after[ROUNDS], before[ROUNDS], ignored;
    for (int i = 0; i < ROUNDS; i++) {
        less[i] = find_way(waiter, DELAY_COUNTED, &ignored);
        before[i] = (double)waiter->delay_touched_ticks;
        stamp[i] = find_way(waiter, DELAY_COUNTED_STAMPED, &after[i]) - less[i];
    }
    double cycles_per_tick = waiter->counted.rate.cycles_per_ns * waiter->learnt.period_ns;
    waiter->counted_lesson.after_ticks = calibration_delay_middle(after);
    waiter->counted_lesson.stamp_cycles = calibration_delay_middle(stamp) * cycles_per_tick;
    waiter->counted.less_cycles = calibration_delay_middle(less) * cycles_per_tick;
    double way_in_ticks = within(1, calibration_delay_middle(before), DELAY_SHORT_NS);
    waiter->counted.way_in_ticks = (float)way_in_ticks;
    return way_in_ticks * waiter->learnt.period_ns;
}

/* Of a lesson that says nothing new; what it makes of it does not matter yet. */
static double time_to_learn_ns(struct waiter *waiter)
{
    enum { TRIALS = 9, ONE_NS = 300 };
    double ticks[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        waiter->counted_lesson.ns = ONE_NS;
        waiter->counted_lesson.taken_ticks = waiter_ticks_of_ns(waiter, ONE_NS);
        uint64_t start = timebase_ticks_ordered();
        delay_counted_learn(waiter);
        ticks[i] = (double)(timebase_ticks_ordered() - start);
    }
    quantile_sort(ticks, TRIALS);
    return quantile_at(ticks, TRIALS, 0.5) * waiter->learnt.period_ns;
}

/* The shortest that is counted has the time to learn, and for a stamp. */
static uint32_t least_ns(const struct waiter *waiter, double before_ns, double learn_ns)
{
    enum { MORE_NS = 5 };
    double cycles_per_ns = waiter->counted.rate.cycles_per_ns;
    double stamp_ns = waiter->counted_lesson.stamp_cycles / cycles_per_ns;
    double least = before_ns + waiter->counted.less_cycles / cycles_per_ns;
    least += stamp_ns > learn_ns ? stamp_ns : learn_ns;
    return (uint32_t)within(0, least, DELAY_SHORT_NS) + MORE_NS;
}

/* A reading that leaves the guest takes longer than all of it; and NaN is no number of cycles. */
static int is_sound(double first_less_cycles)
{
    enum { MOST_CYCLES = 600 };
    return first_less_cycles >= 0 && first_less_cycles < MOST_CYCLES;
}

/* It is taken from the last chain. */
static int has_time_for_stamp(const struct waiter *waiter)
{
    enum { MOST_NS = 50 };
    return waiter->counted_lesson.stamp_cycles < MOST_NS * waiter->counted.rate.cycles_per_ns;
}

void calibrate_counted(struct waiter *waiter)
{
    enum { EARLY_LESSONS = 16, EARLY_ONES = 4 };
    struct waiter_counted *counted = &waiter->counted;
    counted->span_ns = 0;
    waiter->counted_lesson = (struct counted_lesson){0}; /* what a stamp took before is in no trial */
    if (waiter->ways.count == NULL || waiter_has_vernier(waiter))
        return;
    counted->first_less_cycles = calibration_counted_first(waiter);
    if (!is_sound(counted->first_less_cycles))
        return;
    double learn_ns = time_to_learn_ns(waiter);
    calibration_begin_choice(waiter, waiter->period.value); /* its polls are so far apart */
    counted->rate.cycles_per_ns =
        1 / (calibration_delay_cycle(waiter, calibration_count) * waiter->learnt.period_ns);
    counted->step_ns = waiter->vernier.step_ticks * waiter->learnt.period_ns;
    counted->span_ns = DELAY_SHORT_NS;
    double before_ns = find_ways(waiter);
    waiter->counted_lesson.ns = 0;
    waiter->counted_lesson.usual_ns = DELAY_COUNTED_USUALLY_NS;
    waiter->counted_lesson.early_lessons = EARLY_LESSONS;
    counted->only = EARLY_ONES;
    counted->least_ns = least_ns(waiter, before_ns, learn_ns);
    int are_there = counted->least_ns < DELAY_COUNTED_AT_ONCE_NS && has_time_for_stamp(waiter);
    counted->span_ns = are_there ? DELAY_SHORT_NS - counted->least_ns : 0;
}
