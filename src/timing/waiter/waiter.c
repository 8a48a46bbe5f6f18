/* SPDX-License-Identifier: MIT */
#include "waiter.h"

#include <stddef.h>

#include "timing/approach/edge.h"
#include "timing/learn/within.h"

enum { SETTLED = 32 }; /* when the mean of so many is taken */

APPROACH_WAY void waiter_mark(struct waiter *waiter, int exact)
{
    if (exact || !waiter_is_bare(waiter))
        evidence_begin(&waiter->evidence, &waiter->approach);
    else
        evidence_forget(&waiter->approach);
}

/* A bare loop takes none: nobody asked for a result. */
APPROACH_WAY static void begin_without_evidence(struct approach *a, const struct evidence *evidence)
{
    a->marker = 1;
    a->rseq_cpu = evidence->cpu_before;
    a->rseq_marker = evidence->rseq_mark;
    a->gap_ticks = 0;
    a->run = 0;
}

/* One at its call behind another has no time to foresee what is near. */
static approach_function *exact_way(const struct waiter *waiter)
{
    const struct approach_ways *ways = &waiter->ways;
    const struct wait *last = &waiter->last;
    int is_hot = last->is_near_exact && !last->is_cold && !last->is_afresh;
    return is_hot && ways->exact_hot != NULL ? ways->exact_hot : ways->exact;
}

APPROACH_WAY int waiter_approach(struct waiter *waiter, int exact)
{
    struct approach *a = &waiter->approach;
    if (exact)
        waiter->exact_ticks = a->target_ticks;
    else if (a->behind != NULL)
        begin_without_evidence(a, &waiter->evidence);
    if (a->behind == NULL) {
        (exact ? exact_way(waiter) : approach_poll)(a);
        return 0;
    }
    a->way = exact ? exact_way(waiter) : a->behind;
    approach_end_behind(a, a->end != NULL ? a->end : a->way);
    return APPROACH_ENDS_BEHIND;
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

/* Beside a neighbour readings can be as far apart as two steps are, and all see the same phase. */
static void choose_series(struct waiter *waiter)
{
    int *series = &waiter->learnt.series, before = *series;
    double cycle = waiter->tempo.cycle_ticks, shortest;
    shortest = (waiter->spacing.value - before * APPROACH_PAD_CYCLES) * cycle;
    *series = vernier_choose(&waiter->vernier, VERNIER_SERIES, shortest,
                             APPROACH_PAD_CYCLES * cycle, APPROACH_PADS, before);
    waiter->spacing.value += (*series - before) * APPROACH_PAD_CYCLES;
}

void waiter_learn_spacing(struct waiter *waiter, const uint32_t readings[APPROACH_FINE])
{
    if (!waiter_has_vernier(waiter))
        return;
    double ticks = vernier_slope(readings + APPROACH_FINE - APPROACH_VERNIER, APPROACH_VERNIER);
    estimate_learn(&waiter->spacing, ticks, waiter->tempo.cycle_ticks,
                   far_ticks(waiter, APPROACH_VERNIER));
    choose_series(waiter);
}

/*
 * Polls are made to take some cycles longer, so that a few of them see phases of the counter's step that are
 * far from each other. How many changes with the core's clock, and with another thread on the core.
 */
static void choose_pad(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    double cycle = waiter->tempo.cycle_ticks, base = waiter_bare_period(waiter);
    a->pad_cycles = vernier_choose(&waiter->vernier, VERNIER_POLLS, base, cycle,
                                   APPROACH_LONGEST_PAD + 1, a->pad_cycles);
    waiter->period.value = base + a->pad_cycles * cycle;
    waiter->period.count++; /* it has been settled */
}

/* The first poll is late by the way to it. */
int waiter_last_polls(const struct waiter *waiter, uint32_t polls[APPROACH_VERNIER])
{
    const struct approach *a = &waiter->approach;
    uint32_t kept = a->polls - 1;
    if (a->polls < (uint32_t)waiter_least_polls(waiter))
        return 0;
    kept = kept < APPROACH_VERNIER ? kept : APPROACH_VERNIER;
    for (uint32_t k = 0; k < kept; k++)
        polls[k] = (uint32_t)a->poll_ticks[(a->polls - kept + k) % APPROACH_VERNIER];
    return (int)kept;
}

/*
 * A neighbour that has gone leaves polls that are believed to be longer than they are: all of them contradict
 * each other, and so few waits are tried that it took hundreds until four had said so. What is shorter by little
 * more than the counter's step explains has to say so four times, but the next wait is tried.
 */
static void learn_stepped_period(struct waiter *waiter, double seen_ticks, double far)
{
    struct estimate *period = &waiter->period;
    if (seen_ticks < period->value - far)
        waiter->uneven.left = 0;
    if (!estimate_is_shorter(period, seen_ticks, 1, far))
        estimate_learn(period, seen_ticks, 1, far);
    if (period->count == SETTLED)
        choose_pad(waiter);
}

void waiter_learn_period(struct waiter *waiter)
{
    uint32_t polls[APPROACH_VERNIER];
    int kept = waiter_last_polls(waiter, polls);
    if (kept == 0)
        return;
    double seen = vernier_slope(polls, kept);
    if (waiter_has_vernier(waiter))
        learn_stepped_period(waiter, seen, far_ticks(waiter, kept));
    else
        estimate_learn(&waiter->period, seen, 1, waiter->period.value / 2);
}

/* A poll takes no longer than it usually does, but for a few cycles. */
APPROACH_WAY static int32_t another_cycles(const struct waiter *waiter)
{
    enum { MORE_CYCLES = 12 };
    double cycles = waiter->period.value / waiter->tempo.cycle_ticks + MORE_CYCLES;
    return (int32_t)within(0, cycles, APPROACH_LONGEST_RUN);
}

static void publish_spacing(struct waiter *waiter)
{
    enum { MODE_CYCLES = 4 };
    waiter->vernier.spacing_ticks = waiter->spacing.value * waiter->tempo.cycle_ticks;
    waiter->vernier.mode_ticks = MODE_CYCLES * waiter->tempo.cycle_ticks;
}

APPROACH_WAY void waiter_publish_tempo(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    double cycle = waiter->tempo.cycle_ticks;
    a->cycles_per_tick = waiter_scaled(1 / cycle, APPROACH_CYCLE_BITS - APPROACH_TICK_BITS);
    a->another_cycles = another_cycles(waiter);
    waiter->learnt.edge_links_per_tick = 1 / (EDGE_LINK_CYCLES * cycle);
    if (waiter_has_vernier(waiter))
        publish_spacing(waiter);
}

/* Where the counter's step is long, too little is known of each to tell tail and run apart. */
APPROACH_WAY void waiter_learn_tempo(struct waiter *waiter, double ticks, double bound_ticks)
{
    double cycles = waiter_cycles(waiter), wrong = ticks - cycles * waiter->tempo.cycle_ticks;
    tempo_learn(&waiter->tempo, ticks, cycles, bound_ticks);
    if (!waiter_has_vernier(waiter))
        tempo_learn_tail(&waiter->tempo, &waiter->learnt.tail, wrong, waiter->approach.run,
                         waiter->approach.another_cycles);
    waiter_publish_tempo(waiter);
}
