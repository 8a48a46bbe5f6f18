/* SPDX-License-Identifier: MIT */
#include "waiter.h"

#include "within.h"

enum { SETTLED = 32 };   /* when the mean of so many is taken */
enum { LATE_TICKS = 4 }; /* besides a step of the counter */

#define DELAY_DOUBT 2          /* of a delay's first poll, in ticks */
#define DELAY_PERIOD_DOUBT 0.2 /* of the time between its polls: the sum of all is learnt */
#define DOUBT 0.03             /* of the time from poll to poll; steps of the counter */

int waiter_read_fine(const struct waiter *waiter, uint64_t base_ticks,
                     struct timebase_fine_reading *out)
{
    uint32_t readings[APPROACH_FINE];
    if (waiter_has_vernier(waiter))
        waiter->ways.fine[waiter->learnt.series](readings);
    else
        readings[0] = (uint32_t)timebase_ticks_ordered();
    return vernier_intersect(&waiter->vernier, readings, waiter->vernier.readings,
                             (uint32_t)base_ticks, out);
}

static int64_t scaled(double value, int bits)
{
    return (int64_t)(value * (double)(INT64_C(1) << bits));
}

/*
 * What a poll says of the next one is wrong by what is not known of the time between them. So the
 * earlier a poll, the less it counts.
 */
static void set_period(struct waiter *waiter, double doubt_ticks)
{
    struct approach *a = &waiter->approach;
    double period = waiter->period.value;
    double doubt = waiter_has_vernier(waiter) ? doubt_ticks : APPROACH_FARTHEST;
    a->earliest_ticks = scaled(period - doubt, APPROACH_TICK_BITS);
    a->latest_ticks = scaled(period + doubt, APPROACH_TICK_BITS);
}

/* Rounded down there. */
static void aim_exactly(struct waiter *waiter, double aim_ticks)
{
    double cycles = waiter->learnt.tail_cycles - aim_ticks / waiter->tempo.cycle_ticks;
    waiter->approach.fixed_cycles = scaled(cycles + 0.5, APPROACH_CYCLE_BITS);
}

void waiter_aim(struct waiter *waiter, uint64_t target_ticks, double aim_ticks, int exact)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    struct approach *a = &waiter->approach;
    a->target_ticks = target_ticks;
    a->leave_ticks = target_ticks - (uint64_t)(int64_t)(learnt->plain_bias_ticks - aim_ticks);
    a->late_cycles =
        (int32_t)((waiter->vernier.step_ticks + LATE_TICKS) / waiter->tempo.cycle_ticks);
    a->span_ticks = scaled(waiter->vernier.step_ticks - 1, APPROACH_TICK_BITS);
    a->first_earliest_ticks = -APPROACH_NEVER;
    a->first_latest_ticks = APPROACH_NEVER;
    set_period(waiter, waiter->vernier.step_ticks * DOUBT);
    if (exact)
        aim_exactly(waiter, aim_ticks);
}

/*
 * Code that has gone out of the caches can make an exact wait late by 10 ns to 0.1 us, half of it
 * behind its stamp. So it is tried where the core is quiet, as rehearsals have seen, and as long as
 * stamps show nothing; or now and then, where no rehearsals say how well exact waits would do.
 */
static int may_be_cold(const struct waiter *waiter, uint64_t ticks)
{
    enum { TRIAL = 16 };
    if (!caution_allows(&waiter->cold))
        return 0;
    return waiter_has_rehearsed(waiter, ticks) ? choice_is_quiet(&waiter->choice)
                                               : waiter->uses % TRIAL == 0;
}

int waiter_is_exact_better(const struct waiter *waiter, uint64_t ticks, unsigned flags)
{
    int steady = (flags & TIMEBASE_WAIT_STEADY) != 0;
    if (waiter->is_calibrating)
        return 1;
    return choice_is_exact(&waiter->choice, steady) &&
        (waiter_is_exact_hot(waiter, ticks) || may_be_cold(waiter, ticks));
}

/*
 * The difference of two readings is off by less than a step, either way. So a target that is so far
 * from a reading is as far, plus a step, from readings that stand for two steps.
 */
void waiter_aim_from(struct waiter *waiter, uint64_t start_ticks, double ticks, double first_ticks)
{
    struct approach *a = &waiter->approach;
    double less = waiter->vernier.step_ticks - 1;
    int64_t whole = (int64_t)ticks;
    waiter_aim(waiter, start_ticks + (uint64_t)whole, ticks - (double)whole, 1);
    a->target_ticks += (uint64_t)less;
    a->span_ticks *= 2;
    set_period(waiter, DELAY_PERIOD_DOUBT);
    double first = first_ticks - (double)whole;
    a->first_earliest_ticks = scaled(first - DELAY_DOUBT, APPROACH_TICK_BITS) - a->earliest_ticks;
    a->first_latest_ticks = scaled(first + DELAY_DOUBT, APPROACH_TICK_BITS) - a->latest_ticks;
}

/* A wait with a result has no frame and cannot leave: more is to be done after the event. */
APPROACH_WAY void wait_set_event(const struct wait *wait)
{
    struct approach *a = &wait->waiter->approach;
    int leaves = wait->frame != NULL && wait->waiter->ways.leaves;
    a->event = wait->function != NULL ? wait->function
        : leaves                      ? approach_leave
                                      : approach_event_none;
    a->argument = leaves ? a : wait->argument;
    a->frame = wait->frame;
}

APPROACH_WAY void waiter_mark(struct waiter *waiter, int exact)
{
    if (exact || !waiter_is_bare(waiter))
        evidence_begin(&waiter->evidence, &waiter->approach);
    else
        evidence_forget(&waiter->approach);
}

/* A wait that leaves by a bare loop takes no evidence: nobody asked for a result. */
APPROACH_WAY static int poll_and_leave(struct approach *a, const struct evidence *evidence)
{
    a->marker = 1;
    a->rseq_cpu = evidence->cpu_before;
    a->rseq_marker = evidence->rseq_mark;
    a->gap_ticks = 0;
    a->run = 1;
    approach_poll_behind(a);
    return APPROACH_POLLS;
}

APPROACH_WAY int waiter_approach(struct waiter *waiter, int exact)
{
    struct approach *a = &waiter->approach;
    if (!exact && waiter_is_bare(waiter))
        return poll_and_leave(a, &waiter->evidence);
    if (exact)
        waiter->exact_ticks = a->target_ticks;
    (exact ? waiter->ways.exact : approach_poll)(a);
    return 0;
}

double waiter_cycles(const struct waiter *waiter)
{
    return waiter->learnt.tail_cycles + waiter->approach.run;
}

double waiter_event(const struct waiter *waiter, int exact)
{
    const struct approach *a = &waiter->approach;
    double half = waiter->vernier.half_step_ticks;
    double stamp = waiter_middle(waiter, a->event_ticks, a->target_ticks);
    double middle = stamp + waiter->learnt.stamp_ticks[exact];
    double predicted =
        waiter_sample_ticks(waiter) + waiter_cycles(waiter) * waiter->tempo.cycle_ticks;
    return exact ? within(middle - half, predicted, middle + half) : middle;
}

/* The counter's step makes the slope of 16 readings wrong by 1/64 step, root mean square, and that
 * of fewer by the square of the share at most. Three times that is far off. */
static double far_ticks(const struct waiter *waiter, int readings)
{
    enum { LEAST_TICKS = 1 };
    double fewer = (double)APPROACH_VERNIER / readings;
    double far = waiter->vernier.step_ticks / 20 * fewer * fewer;
    return far > LEAST_TICKS ? far : LEAST_TICKS;
}

void waiter_learn_spacing(struct waiter *waiter, const uint32_t *readings)
{
    double ticks = vernier_slope(readings, APPROACH_VERNIER);
    estimate_learn(&waiter->spacing, ticks, waiter->tempo.cycle_ticks,
                   far_ticks(waiter, APPROACH_VERNIER));
}

/*
 * Polls that would see few phases of the counter's step are made to take some cycles longer. Which
 * ones do changes with the core's clock, and with another thread on the core.
 */
static void choose_pad(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    double cycle = waiter->tempo.cycle_ticks, base = waiter->period.value - a->pad_cycles * cycle;
    a->pad_cycles =
        vernier_choose(&waiter->vernier, base, cycle, APPROACH_LONGEST_PAD + 1, a->pad_cycles);
    waiter->period.value = base + a->pad_cycles * cycle;
    waiter->period.count++; /* it has been settled */
}

/* The first poll is late by the way to it. */
int waiter_last_polls(const struct waiter *waiter, uint32_t polls[APPROACH_VERNIER])
{
    const struct approach *a = &waiter->approach;
    uint32_t kept = a->polls - 1;
    if (a->polls < WAITER_LEAST_POLLS)
        return 0;
    kept = kept < APPROACH_VERNIER ? kept : APPROACH_VERNIER;
    for (uint32_t k = 0; k < kept; k++)
        polls[k] = (uint32_t)a->poll_ticks[(a->polls - kept + k) % APPROACH_VERNIER];
    return (int)kept;
}

void waiter_learn_period(struct waiter *waiter)
{
    uint32_t polls[APPROACH_VERNIER];
    int kept = waiter_last_polls(waiter, polls);
    if (kept == 0)
        return;
    estimate_learn(&waiter->period, vernier_slope(polls, kept), 1, far_ticks(waiter, kept));
    if (waiter->period.count == SETTLED && waiter_has_vernier(waiter))
        choose_pad(waiter);
}

double waiter_way_in(const struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    double last = a->poll_ticks[(a->polls - 1) % APPROACH_VERNIER];
    double since = (double)(int64_t)(a->target_ticks - waiter->last.entered_ticks);
    return since + last - (a->polls - 1) * waiter->period.value;
}

void waiter_learn_way_in(struct waiter *waiter)
{
    enum { MORE_TICKS = 8 };
    struct estimate *way_in = &waiter->way_in[waiter->last.has_learnt];
    estimate_learn(way_in, waiter_way_in(waiter), 1, waiter->vernier.step_ticks + MORE_TICKS);
}

/* A poll takes no longer than it usually does, but for a few cycles. */
static int32_t another_cycles(const struct waiter *waiter)
{
    enum { MORE_CYCLES = 12 };
    double cycles = waiter->period.value / waiter->tempo.cycle_ticks + MORE_CYCLES;
    return (int32_t)within(0, cycles, APPROACH_LONGEST_RUN);
}

void waiter_publish_tempo(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    double cycle = waiter->tempo.cycle_ticks;
    a->cycles_per_tick = scaled(1 / cycle, APPROACH_CYCLE_BITS - APPROACH_TICK_BITS);
    a->another_cycles = another_cycles(waiter);
    if (waiter_has_vernier(waiter))
        waiter->vernier.spacing_ticks = waiter->spacing.value * cycle;
}
