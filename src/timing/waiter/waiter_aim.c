/* SPDX-License-Identifier: MIT */
/* Which way the next wait is to go, and where its approach aims. */
#include "timing/learn/within.h"

#include "aim_edge.h"
#include "asked.h"
#include "slower.h"
#include "waiter.h"

enum { LATE_TICKS = 4 }; /* besides a step of the counter */

#define DOUBT_STEPPED 0.3
#define DOUBT_FINE 0.5

/* With each wait by the loop; where the tail is asked for, slowly, as a trial may be bad. */
#define FADE_SLOWLY (1.0 / 512)
#define FADE_FINE (1.0 / 128)

#define DOUBT 0.03 /* of the time from poll to poll; steps of the counter */

/*
 * What a poll says of the next one is wrong by what is not known of the time between them. So the
 * earlier a poll, the less it counts.
 */
APPROACH_WAY void waiter_aim_polls(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    double period = waiter->period.value, steps = waiter->vernier.step_ticks;
    double doubt = waiter_has_vernier(waiter) ? steps * DOUBT : APPROACH_FARTHEST;
    a->earliest_ticks = waiter_scaled(period - doubt, APPROACH_TICK_BITS);
    a->latest_ticks = waiter_scaled(period + doubt, APPROACH_TICK_BITS);
}

/*
 * A reading is a step or less behind the counter, so by two of them a poll that came as usual came up
 * to a step sooner or later, and the usual one is known no better. To follow that made waits on a quiet
 * core a fifth wider.
 */
APPROACH_WAY static void aim_sooner(struct waiter *waiter, double cycles_per_tick)
{
    enum { STEPS = 2 };
    struct approach *a = &waiter->approach;
    double share = waiter_sooner_share(waiter);
    a->usual_ticks = (int32_t)waiter_rounded(waiter->period.value);
    a->sooner_from_ticks =
        (int32_t)within(0, STEPS * waiter->vernier.step_ticks + 1, a->usual_ticks / 2);
    a->sooner_per_tick = waiter_scaled(share * cycles_per_tick, APPROACH_CYCLE_BITS);
}

/* Rounded down there. */
APPROACH_WAY void waiter_aim_run(struct waiter *waiter, double aim_ticks)
{
    struct approach *a = &waiter->approach;
    double cycles_per_tick = 1 / waiter->tempo.cycle_ticks;
    double later = waiter_slower_ticks(waiter, EVENT_CALLED) - aim_ticks;
    double cycles = waiter->learnt.tail.cycles + later * cycles_per_tick;
    a->fixed_cycles = waiter_scaled(cycles + 0.5, APPROACH_CYCLE_BITS);
    aim_sooner(waiter, cycles_per_tick);
}

APPROACH_WAY void waiter_aim(struct waiter *waiter, uint64_t target_ticks, double aim_ticks,
                             int exact)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    struct approach *a = &waiter->approach;
    a->target_ticks = target_ticks;
    a->leave_ticks = target_ticks - (uint64_t)(int64_t)(learnt->plain_bias_ticks - aim_ticks);
    waiter_aim_edge(waiter, a->leave_ticks);
    a->late_cycles =
        (int32_t)((waiter->vernier.step_ticks + LATE_TICKS) / waiter->tempo.cycle_ticks);
    a->span_ticks = waiter_scaled(waiter->vernier.span_ticks, APPROACH_TICK_BITS);
    waiter_aim_polls(waiter);
    if (exact)
        waiter_aim_run(waiter, aim_ticks);
}

/* Where the counter's steps are so short that nothing is asked of several polls, none contradict.
 */
APPROACH_WAY static int may_end_by_loop(const struct waiter *waiter)
{
    if (waiter->is_calibrating)
        return waiter->calibrated_end == END_BY_LOOP;
    return waiter_has_vernier(waiter);
}

/* An exact approach ends by a run after so many polls that agree. */
APPROACH_WAY static int32_t even_least(const struct waiter *waiter)
{
    int asks = may_end_by_loop(waiter);
    return !asks                 ? INT32_MIN
        : waiter->is_calibrating ? INT32_MAX
                                 : waiter_even_needed(waiter);
}

/*
 * A loop that begins at the same distance each time takes as many turns, and the core predicts its
 * end: where it is one turn off, the end comes 8 ns late. So it begins sooner by some turns.
 */
APPROACH_WAY static double sooner_cycles(struct waiter *waiter, double spare_ticks)
{
    enum { MOST_CYCLES = 1500 };
    double spare = spare_ticks / waiter->tempo.cycle_ticks;
    return waiter_throw_dice(waiter, (uint32_t)within(0, spare, MOST_CYCLES));
}

/*
 * From the last poll to the first one of the loop the core needs as long as a prediction that is
 * wrong, and what comes after it.
 */
APPROACH_WAY void waiter_aim_loop(struct waiter *waiter, uint64_t base_ticks, double ticks,
                                  double spare_ticks)
{
    enum { WAY_CYCLES = 150, MANY = 1 << 20 };
    struct approach *a = &waiter->approach;
    double bias = waiter->learnt.loop_bias_ticks[waiter_loop_way(waiter)];
    double cycle = waiter->tempo.cycle_ticks;
    a->leave_ticks = base_ticks + (uint64_t)(int64_t)(ticks - bias);
    waiter_aim_edge(waiter, a->leave_ticks);
    double cycles = WAY_CYCLES + (bias + a->edge_sooner_ticks) / cycle - waiter->learnt.tail.cycles;
    cycles += sooner_cycles(waiter, spare_ticks);
    a->loop_cycles = (int32_t)within(0, cycles, APPROACH_FARTHEST);
    a->even_least = even_least(waiter);
    a->even_polls = a->even_polls < MANY ? a->even_polls : MANY; /* it never overflows */
    waiter->even_before = a->even_polls;
}

APPROACH_WAY void wait_aim_loop(const struct wait *wait, uint64_t base_ticks, double ticks)
{
    struct waiter *waiter = wait->waiter;
    const struct waiter_learnt *learnt = &waiter->learnt;
    enum event_way way = waiter_loop_way(waiter);
    if (way == EVENT_CALLED)
        ticks -= learnt->exit_ticks[1][wait_event_way(wait)];
    double spare = wait->left_ticks - waiter_coarse_ticks(waiter) - waiter_polls_ticks(waiter);
    waiter_aim_loop(waiter, base_ticks, ticks, spare);
}

/*
 * Where most waits see a contradiction: if the last polls agreed, of rehearsals above all; else only
 * now and then, as one that ends by the loop is not quite as good as one by the loop.
 */
APPROACH_WAY static int may_be_even(const struct waiter *waiter)
{
    return !may_end_by_loop(waiter) || caution_allows(&waiter->uneven) ||
        waiter->approach.even_polls >= waiter_even_needed(waiter);
}

/*
 * As far as its code goes. What has gone out of the caches can make an exact wait late by 10 ns to
 * 0.1 us, half of it behind its stamp. So it is tried where the core is quiet, as polls or rehearsals
 * have seen, and as long as stamps show nothing; or now and then, where nothing says how well exact
 * waits would do.
 */
APPROACH_WAY int waiter_may_be_exact(const struct waiter *waiter, uint64_t ticks)
{
    enum { TRIAL = 16, STEPPED_TRIAL = 8 };
    if (waiter_is_exact_hot(waiter, ticks))
        return 1;
    if (!caution_allows(&waiter->cold))
        return 0;
    int is_trial = waiter->uses % (may_end_by_loop(waiter) ? STEPPED_TRIAL : TRIAL) == 0;
    if (may_end_by_loop(waiter))
        return waiter->approach.even_polls >= WAITER_EVEN_COLD ||
            (is_trial && caution_allows(&waiter->uneven));
    return waiter_has_rehearsed(waiter, ticks) ? choice_is_quiet(&waiter->choice) : is_trial;
}

/*
 * Errors that a waiter sees of its own waits hardly tell exact ones from others where the counter
 * steps: by stamps of one step each, both are off by most of one. Where polls say when exact waits are
 * good, it is enough that they do not look twice as bad. By a fine counter's rehearsals they look worse
 * than they are, as these read it once more, which takes 20 ticks longer beside a neighbour: it is
 * enough that they do not look worse by a third. A few
 * bad ones in a row are soon forgotten there: the loop that others would write is no narrower then,
 * and ours is wider than that, as behind its end it reads the counter once more.
 */
APPROACH_WAY int waiter_prefers_exact(const struct waiter *waiter, unsigned flags)
{
    int steady = (flags & TIMEBASE_WAIT_STEADY) != 0;
    double doubt = may_end_by_loop(waiter) ? DOUBT_STEPPED : steady ? 1 : DOUBT_FINE;
    return choice_is_exact(&waiter->choice, steady, doubt) && may_be_even(waiter);
}

APPROACH_WAY void waiter_fade_choice(struct waiter *waiter, unsigned flags)
{
    int slowly = may_end_by_loop(waiter) || (flags & TIMEBASE_WAIT_STEADY) != 0;
    choice_fade(&waiter->choice, slowly ? FADE_SLOWLY : FADE_FINE);
}

APPROACH_WAY int wait_is_exact_better(const struct wait *wait)
{
    const struct waiter *waiter = wait->waiter;
    if (waiter->is_calibrating)
        return 1;
    return waiter_prefers_exact(waiter, wait->flags) && waiter_may_be_exact(waiter, wait->ticks);
}
