/* SPDX-License-Identifier: MIT */
#include "calibration_delay.h"

#include <stddef.h>

#include "timing/approach/hide.h"
#include "timing/learn/quantile.h"
#include "timing/learn/within.h"

#include "calibration_trials.h"

/*
 * A delay by the loop ends with a step of the counter, so one that follows it by code that always
 * takes as long would begin at the same phase of a step, in trial after trial: what is found would
 * be off by up to half a step.
 */
void calibration_delay_pass_phases(struct waiter *waiter)
{
    enum { MOST_CYCLES = 4096 };
    double step = waiter->vernier.step_ticks / waiter->tempo.cycle_ticks;
    uint32_t most = 16 + (uint32_t)within(0, 2 * step, MOST_CYCLES);
    for (uint32_t left = (uint32_t)waiter_throw_dice(waiter, most); left > 0; left--)
        __asm__ __volatile__("" : "+r"(left));
}

/* Both are placed when both have been taken, as a lap is to have nothing else in it. */
struct timed {
    struct timebase_fine_readings before, after;
};

static double length_of(struct waiter *waiter, const struct timed *timed)
{
    struct timebase_fine_reading before, after;
    uint64_t base = timed->before.ticks[0];
    timebase_wait_place_fine(waiter_public(waiter), &timed->before, base, &before);
    timebase_wait_place_fine(waiter_public(waiter), &timed->after, base, &after);
    return after.ticks - before.last_ticks;
}

/* The loop at the call as it nearly always is: one that asks for no lines. */
static unsigned flags_of(enum delay_way way)
{
    return way == DELAY_AT_ONCE || way == DELAY_AT_ONCE_BARE ? TIMEBASE_WAIT_PLAIN : 0;
}

/* Is it a delay after a pause? */
static int is_cold(enum delay_way way)
{
    return way == DELAY_AT_ONCE || way == DELAY_AT_ONCE_BARE || way == DELAY_AFTER_PAUSE;
}

/* What makes a counted delay one of this way. */
static unsigned only_of(enum delay_way way)
{
    enum { NONE_BEFORE = 4 };
    return way == DELAY_COUNTED ? NONE_BEFORE : way == DELAY_COUNTED_STAMPED ? 1 : 0;
}

double calibration_delay_one(struct waiter *waiter, uint64_t ns, int measured)
{
    struct timebase_waiter *public = waiter_public(waiter);
    struct timebase_wait_result result;
    struct timed timed;
    calibration_delay_pass_phases(waiter);
    if (is_cold(waiter->calibrated_way))
        waiter->delay_called_ticks = waiter_long_before(timebase_ticks());
    waiter->counted.only = only_of(waiter->calibrated_way);
    unsigned flags = flags_of(waiter->calibrated_way);
    timebase_wait_take_fine(public, &timed.before);
    uint64_t begin_ticks = timebase_delay_begin();
    waiter->delay(public, ns, flags, measured ? &result : NULL, begin_ticks);
    timebase_wait_take_fine(public, &timed.after);
    return length_of(waiter, &timed);
}

/* The same with nothing between the readings. It is a function of its own, because a branch in
 * calibration_delay_one() would be predicted wrongly now and then. */
double calibration_delay_nothing(struct waiter *waiter)
{
    struct timebase_waiter *public = waiter_public(waiter);
    struct timed timed;
    timebase_wait_take_fine(public, &timed.before);
    timebase_wait_take_fine(public, &timed.after);
    return length_of(waiter, &timed);
}

/* From fine reading to fine reading, what these take themselves included. */
double calibration_delay_chain(struct waiter *waiter, uint64_t cycles)
{
    struct timebase_waiter *public = waiter_public(waiter);
    struct timed timed;
    calibration_delay_pass_phases(waiter);
    timebase_wait_take_fine(public, &timed.before);
    waiter->ways.count(cycles, 1);
    timebase_wait_take_fine(public, &timed.after);
    return length_of(waiter, &timed);
}

/* What a delay of `ns` and more took, and what it was asked to take. */
double calibration_delay_trial(struct waiter *waiter, uint64_t ns, int measured,
                               double *asked_ticks)
{
    uint64_t asked_ns = ns + (uint64_t)waiter_throw_dice(waiter, CALIBRATION_VARIED_NS);
    double taken_ticks = calibration_delay_one(waiter, asked_ns, measured);
    *asked_ticks = (double)asked_ns / waiter->learnt.period_ns;
    return taken_ticks - calibration_delay_nothing(waiter);
}

/*
 * How much longer a delay is than what it counts; and for what of it comes behind its last reading.
 * Each is measured beside calibration_delay_nothing(): both contain the end of a fine reading and the beginning of
 * the next one. They vary over so many polls that nothing predicts the exit of a loop, which takes
 * 10 to 20 ns less where it is predicted.
 */
double calibration_delay_fixed(struct waiter *waiter, uint64_t ns, int measured,
                               double *after_ticks)
{
    struct waiter_delay *begins =
        waiter->calibrated_way < DELAY_WAYS ? waiter->learnt.delays[waiter->calibrated_way] : NULL;
    double values[CALIBRATION_DELAYS], behind[CALIBRATION_DELAYS];
    if (begins != NULL)
        begins[measured] = (struct waiter_delay){0};
    for (int i = 0; i < CALIBRATION_DELAYS; i++) {
        double asked_ticks;
        double taken_ticks = calibration_delay_trial(waiter, ns, measured, &asked_ticks);
        behind[i] = taken_ticks - (double)waiter->delay_taken_ticks;
        values[i] = taken_ticks - asked_ticks;
    }
    double reach = trials_reach_ticks(waiter);
    *after_ticks = quantile_mean_about(behind, CALIBRATION_DELAYS, 2 * reach);
    return quantile_mean_about(values, CALIBRATION_DELAYS, reach);
}

/*
 * What else uses the core can only make a run slower, and beside a neighbour it does so in most
 * trials. So the soonest of each length count, and not the least difference: that is of a short one
 * that was held up. By it delays ended as soon as they began, in one process of forty whose host
 * stopped it for 3 us in each 50.
 */
static double soonest(double ticks[CALIBRATION_RUNS])
{
    const double share = 0.1;
    quantile_sort(ticks, CALIBRATION_RUNS);
    return quantile_at(ticks, CALIBRATION_RUNS, share);
}

double calibration_delay_cycle_of(double shorter[CALIBRATION_RUNS],
                                  double longer[CALIBRATION_RUNS])
{
    return (soonest(longer) - soonest(shorter)) / CALIBRATION_LONGER;
}

/*
 * By runs so long that the counter's step does not matter; what they have in common falls out. The
 * cycle of approaches is known to half a percent, which is 5 ns of a delay of a microsecond.
 */
double calibration_delay_cycle(const struct waiter *waiter, calibration_cycles *pass)
{
    enum { SHORT = 5000 };
    double shorter[CALIBRATION_RUNS], longer[CALIBRATION_RUNS];
    for (int i = 0; i < CALIBRATION_RUNS; i++) {
        uint64_t start = timebase_ticks_ordered();
        pass(waiter, SHORT);
        uint64_t between = timebase_ticks_ordered();
        pass(waiter, SHORT + CALIBRATION_LONGER);
        longer[i] = (double)(timebase_ticks_ordered() - between);
        shorter[i] = (double)(between - start);
    }
    return calibration_delay_cycle_of(shorter, longer);
}

/*
 * A neighbour, or a hypervisor, can make all trials of one round 40 ns longer or shorter: then all
 * delays of 200 ns were too short by that for good.
 */
double calibration_delay_middle(double rounds[CALIBRATION_ROUNDS])
{
    quantile_sort(rounds, CALIBRATION_ROUNDS);
    return rounds[CALIBRATION_ROUNDS / 2];
}

void calibration_count(const struct waiter *waiter, uint64_t cycles)
{
    waiter->ways.count(cycles, 1);
}

double calibration_chain_ticks(const struct waiter *waiter, uint64_t cycles)
{
    uint64_t start = timebase_arch_ticks_ordered();
    waiter->ways.count(cycles, approach_link(start));
    return (double)(timebase_arch_ticks_ordered() - start);
}

void calibration_begin_choice(struct waiter *waiter, double loop_ticks)
{
    struct choice *choice = &waiter->counted_lesson.choice;
    choice_forget(choice);
    choice_init(choice, CHOICE_LOOP, &loop_ticks, 1);
    choice_init(choice, CHOICE_EXACT, &loop_ticks, 1);
    choice_fade(choice, 0.5);
}
