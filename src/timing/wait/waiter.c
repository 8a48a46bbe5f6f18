/* SPDX-License-Identifier: MIT */
#include "waiter.h"

enum { LATE_TICKS = 4 }; /* besides a step of the counter */

int waiter_read_fine(const struct waiter *waiter, uint64_t base_ticks,
                     struct timebase_fine_reading *out)
{
    uint32_t readings[APPROACH_FINE];
    if (waiter->vernier.readings > 1)
        waiter->ways.fine[waiter->learnt.pad[WAY_EXACT]](readings);
    else
        readings[0] = (uint32_t)timebase_ticks_ordered();
    return vernier_intersect(&waiter->vernier, readings, waiter->vernier.readings,
                             (uint32_t)base_ticks, out);
}

void waiter_aim(struct waiter *waiter, uint64_t target_ticks, double aim_ticks, enum waiter_way way)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    struct approach *a = &waiter->approach;
    double before = way == WAY_PLAIN ? learnt->plain_bias_ticks : waiter_coarse_ticks(waiter, way);
    a->target_ticks = target_ticks;
    a->leave_ticks = target_ticks - (uint64_t)(int64_t)(before - aim_ticks);
    a->late_cycles = (int32_t)((waiter->vernier.step_ticks + LATE_TICKS) * a->cycles_per_tick);
    if (way == WAY_PLAIN)
        return;
    if (way == WAY_SINGLE)
        aim_ticks -= waiter->vernier.half_step_ticks;
    a->fixed_cycles = (float)(waiter_fixed_cycles(waiter, way) - aim_ticks * a->cycles_per_tick);
    a->slack_ticks = (float)waiter->vernier.slack_ticks[way == WAY_BRIEF];
    a->sample = (way == WAY_BRIEF ? waiter->ways.few : waiter->ways.sample)[learnt->pad[way]];
    waiter->way = way;
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

APPROACH_WAY int waiter_approach(struct waiter *waiter, enum waiter_way way)
{
    struct approach *a = &waiter->approach;
    if (way == WAY_PLAIN && waiter_is_bare(waiter))
        return poll_and_leave(a, &waiter->evidence);
    if (way == WAY_PLAIN)
        approach_poll(a);
    else
        waiter->approaches[way](a);
    return 0;
}

double waiter_cycles(const struct waiter *waiter)
{
    return waiter_fixed_cycles(waiter, waiter->way) + waiter->approach.run;
}

static double within(double low, double value, double high)
{
    return value < low ? low : value > high ? high : value;
}

double waiter_event(const struct waiter *waiter, int exact)
{
    const struct approach *a = &waiter->approach;
    double half = waiter->vernier.half_step_ticks;
    double stamp = waiter_middle(waiter, a->event_ticks, a->target_ticks);
    double middle = stamp + waiter->learnt.stamp_ticks[exact];
    double predicted = waiter_first_ticks(waiter) + waiter_cycles(waiter) * waiter->tempo.cycle_ticks;
    return exact ? within(middle - half, predicted, middle + half) : middle;
}

/* The counter's step makes the slope of a series wrong by 1/64 step, root mean square. Three times
 * as much is far off. */
void waiter_learn_spacing(struct waiter *waiter, const uint32_t *readings)
{
    double ticks = vernier_slope(readings, APPROACH_VERNIER);
    estimate_learn(&waiter->spacing, ticks, waiter->tempo.cycle_ticks,
                   waiter->vernier.step_ticks / 20);
}

/*
 * One sample in sixteen finds less time left than is enough for a run. If fewer did, runs would be
 * longer, and a thread on the same core would disturb more of them.
 */
void waiter_follow_entry(struct waiter *waiter)
{
    enum { ENOUGH_CYCLES = 12 };
    double *entry = &waiter->learnt.entry_ticks, cycle = waiter->tempo.cycle_ticks;
    double most = APPROACH_LONGEST_RUN * cycle;
    if (waiter->approach.run < ENOUGH_CYCLES)
        *entry = *entry + 4 * cycle < most ? *entry + 4 * cycle : most;
    else
        *entry = *entry - 0.3 * cycle > 0 ? *entry - 0.3 * cycle : 0;
}

void waiter_publish_offsets(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    for (int k = 0; k < APPROACH_VERNIER; k++)
        a->offsets[k] = (float)(k * waiter->vernier.spacing_ticks);
    for (int k = 0; k < APPROACH_BRIEF; k++)
        a->brief_offsets[k] = (float)(k * waiter->vernier.brief_spacing_ticks);
}

void waiter_publish_tempo(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    double cycle = waiter->tempo.cycle_ticks;
    a->cycles_per_tick = (float)(1 / cycle);
    if (waiter->vernier.readings == 1)
        return;
    waiter->vernier.spacing_ticks = waiter_spacing_cycles(waiter, WAY_EXACT) * cycle;
    waiter->vernier.brief_spacing_ticks = waiter_spacing_cycles(waiter, WAY_BRIEF) * cycle;
    waiter_publish_offsets(waiter);
}
