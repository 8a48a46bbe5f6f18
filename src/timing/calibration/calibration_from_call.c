/* SPDX-License-Identifier: MIT */
#include "calibration_from_call.h"

#include <stddef.h>

#include "timing/approach/hide.h"
#include "timing/delay/delay_from_call.h"
#include "timing/delay/delay_short.h"
#include "timing/learn/quantile.h"
#include "timing/learn/within.h"

#include "calibration_delay.h"
#include "calibration_trials.h"

/* ---- roots -------------------------------------------------------------------------------- */

/* By so many that the counter's step does not matter. */
enum { MANY_EIGHTS = 500, MANY_CYCLES = 84000 };

static double roots_ticks(unsigned at_a_time)
{
    uint64_t start = timebase_ticks_ordered(), link = approach_link(start);
    for (unsigned eights = 0; eights < MANY_EIGHTS; eights += at_a_time)
        link = approach_link_more(link, at_a_time);
    __asm__ volatile("" : : "r"(link));
    return (double)(timebase_ticks_ordered() - start);
}

/*
 * Of eight, so many eights at a time; by a chain right behind them, as the core's clock changes. There is as
 * much besides in both.
 */
static double eight_cycles(const struct waiter *waiter, unsigned at_a_time)
{
    enum { ROUNDS = 9 };
    double cycles[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double roots = roots_ticks(at_a_time);
        cycles[i] = roots * MANY_CYCLES / calibration_chain_ticks(waiter, MANY_CYCLES) / MANY_EIGHTS;
    }
    quantile_sort(cycles, ROUNDS);
    return quantile_at(cycles, ROUNDS, 0.5);
}

/* One behind the other, and one by one. */
static void find_roots(struct waiter *waiter)
{
    struct more_roots *roots = &waiter->counted_lesson.roots;
    double cycles_per_tick = waiter->counted.rate.cycles_per_ns * waiter->learnt.period_ns;
    roots->each_cycles = eight_cycles(waiter, MANY_EIGHTS);
    roots->each_ticks = roots->each_cycles / cycles_per_tick;
    roots->eights_per_cycle = 1 / roots->each_cycles;
    roots->beside_cycles = eight_cycles(waiter, 1) - roots->each_cycles;
}

/* ---- what they take ----------------------------------------------------------------------- */

enum { TRIALS = CALIBRATION_DELAYS };

/* The core's clock; what a delay takes beside what it counts; and what it counts beyond its stamp. */
struct found {
    double cycles_per_ns[TRIALS], less_cycles[TRIALS], beyond_ns[TRIALS];
};

/* The core's clock just now: a long chain less a short one. */
static double cycles_per_ns(struct waiter *waiter)
{
    enum { SHORT = 60, LONGER = 3000 };
    double shorter = calibration_delay_chain(waiter, SHORT);
    double longer = calibration_delay_chain(waiter, SHORT + LONGER);
    return LONGER / ((longer - shorter) * waiter->learnt.period_ns);
}

static uint64_t any_ns(struct waiter *waiter)
{
    enum { LEAST_NS = 300 };
    return LEAST_NS + (uint64_t)waiter_throw_dice(waiter, CALIBRATION_VARIED_NS);
}

/* By the believed clock; what there is beside them, when that is known. */
static double counted_cycles(const struct waiter *waiter, uint64_t ns)
{
    return (double)ns * waiter->counted.rate.cycles_per_ns;
}

/* It does not learn. */
static double taken_ns(struct waiter *waiter, uint64_t ns)
{
    waiter->counted_lesson.ns = 0;
    double ticks = calibration_delay_one(waiter, ns, 0) - calibration_delay_nothing(waiter);
    return ticks * waiter->learnt.period_ns;
}

/* A stamp is wrong by less than a step, so some more of them, without a stopwatch. */
static double beyond_ns(struct waiter *waiter, double now)
{
    enum { MANY = 16 };
    double values[MANY], period_ns = waiter->learnt.period_ns;
    for (int i = 0; i < MANY; i++) {
        uint64_t ns = any_ns(waiter);
        calibration_delay_pass_phases(waiter);
        waiter->counted_lesson.ns = 0;
        uint64_t begin_ticks = timebase_delay_begin();
        waiter->delay(waiter_public(waiter), ns, 0, NULL, begin_ticks);
        double stamp_ns = (double)waiter->counted_lesson.taken_ticks * period_ns;
        values[i] = counted_cycles(waiter, ns) / now - stamp_ns;
    }
    return quantile_mean_about(values, MANY, trials_reach_ticks(waiter) * period_ns);
}

/* In milliseconds behind a pause the core's clock goes from 1 % below its own to that: so all by that of now. */
static void find_one(struct waiter *waiter, struct found *found, int i)
{
    double now = cycles_per_ns(waiter);
    uint64_t ns = any_ns(waiter);
    found->cycles_per_ns[i] = now;
    found->less_cycles[i] = taken_ns(waiter, ns) * now - counted_cycles(waiter, ns);
    found->beyond_ns[i] = beyond_ns(waiter, now);
}

static void find_delays(struct waiter *waiter)
{
    struct waiter_counted *counted = &waiter->counted;
    struct found found;
    waiter->counted_lesson.two.from_ns = UINT64_MAX;
    for (int i = 0; i < TRIALS; i++)
        find_one(waiter, &found, i);
    double period_ns = waiter->learnt.period_ns, reach_ns = trials_reach_ticks(waiter) * period_ns;
    double clock = counted->rate.cycles_per_ns;
    double beyond_ns = quantile_mean_about(found.beyond_ns, TRIALS, reach_ns);
    counted->less_cycles = quantile_mean_about(found.less_cycles, TRIALS, reach_ns * clock);
    clock = quantile_mean_about(found.cycles_per_ns, TRIALS, clock / 64);
    counted->rate.cycles_per_ns = clock;
    waiter->counted_lesson.after_ticks = (counted->less_cycles / clock + beyond_ns) / period_ns;
    waiter->counted_lesson.ns = 0;
}

/* What longer ones take by two chains beside that; none of them was held up. */
static void find_two_chains(struct waiter *waiter)
{
    enum { TWO_NS = 400 };
    struct two_chains *two = &waiter->counted_lesson.two;
    double beside[TRIALS], last[TRIALS], period_ns = waiter->learnt.period_ns;
    *two = (struct two_chains){.last_cycles = DELAY_SECOND_CYCLES, .last_ticks = INT32_MIN};
    for (int i = 0; i < TRIALS; i++) {
        double now = cycles_per_ns(waiter);
        uint64_t ns = TWO_NS + any_ns(waiter);
        double taken = taken_ns(waiter, ns);
        beside[i] = taken * now - counted_cycles(waiter, ns);
        last[i] = taken / period_ns - (double)two->taken_ticks;
    }
    double reach = trials_reach_ticks(waiter);
    double reach_cycles = reach * period_ns * waiter->counted.rate.cycles_per_ns;
    two->last_cycles += quantile_mean_about(beside, TRIALS, reach_cycles);
    two->last_ticks = quantile_mean_about(last, TRIALS, reach);
    two->from_ns = TWO_NS;
    waiter->counted_lesson.ns = 0;
}

/* ------------------------------------------------------------------------------------------- */

enum { HARDLY_MORE_NS = 16 };

static uint32_t least_ns(const struct waiter_counted *counted)
{
    enum { MORE_NS = 5 };
    double takes_ns = counted->less_cycles / counted->rate.cycles_per_ns;
    return (uint32_t)within(0, takes_ns, DELAY_SHORT_NS) + MORE_NS;
}

void calibrate_from_call(struct waiter *waiter)
{
    struct waiter_counted *counted = &waiter->counted;
    double period_ns = waiter->learnt.period_ns;
    if (counted->roots_from_ns == 0)
        return;
    counted->step_ns = waiter->vernier.step_ticks * period_ns;
    counted->rate.cycles_per_ns = 1 / (calibration_delay_cycle(waiter, calibration_count) * period_ns);
    waiter->counted_lesson.ticks_per_ns = 1 / period_ns;
    counted->span_ns = DELAY_SHORT_NS;
    counted->roots_from_ns = 1;
    calibration_begin_choice(waiter, waiter->vernier.step_ticks); /* it ends with a step */
    find_roots(waiter);
    waiter->calibrated_way = DELAY_COUNTED;
    find_delays(waiter);
    find_two_chains(waiter);
    counted->least_ns = least_ns(counted);
    waiter->counted_lesson.hardly_ns = counted->least_ns + HARDLY_MORE_NS;
    int are_there = counted->least_ns < DELAY_COUNTED_AT_ONCE_NS;
    counted->span_ns = are_there ? DELAY_SHORT_NS - counted->least_ns : 0;
    counted->roots_from_ns = are_there ? counted->least_ns : DELAY_SHORT_NS;
}
