/* SPDX-License-Identifier: MIT */
#include "track.h"

#include <math.h>

#include "table.h"

/*
 * On a stepped counter larger differences are believed less; a fine one shows all of a change at
 * once.
 */
#define BELIEVED_TICKS 4
#define STEPPED_TICKS 8

int waiter_turns(const struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    int64_t left = ((int64_t)-a->middle_256 - a->base_256) >> 6;
    int64_t over = left - (APPROACH_TABLE_ENTRIES - 1);
    return over > 0 ? (int)((over + a->longer_quarters - 1) / a->longer_quarters) : 0;
}

/* First reading to event, of the run that the table chose. */
static double predicted(const struct waiter *waiter)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double first = waiter->approach.middle_256 / 256.0 + waiter->vernier.half_step_ticks;
    double more = (double)waiter->approach.run - TABLE_SHORTEST_RUN;
    double turns = waiter_turns(waiter) * waiter->approach.longer_quarters / 4.0;
    return first + turns + learnt->shortest_ticks + more * learnt->instruction_ticks;
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

double waiter_event(const struct waiter *waiter, int exact)
{
    const struct approach *a = &waiter->approach;
    double half = waiter->vernier.half_step_ticks;
    double middle = waiter_middle(waiter, a->event_ticks, a->target_ticks);
    middle += waiter->learnt.stamp_ticks[exact];
    return exact ? clamp(predicted(waiter), middle - half, middle + half) : middle;
}

static void track_offsets(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    vernier_follow(&waiter->vernier, a->readings, APPROACH_VERNIER);
    for (int k = 1; k < APPROACH_VERNIER; k++)
        a->offsets_256[k] = (int32_t)(waiter->vernier.offsets[k] * 256 + 0.5);
}

/* Keeps the time left after the sample within the table: below it once in a thousand waits. */
static void track_coarse(struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    if (-a->middle_256 < a->base_256 &&
        waiter->learnt.coarse_ticks < waiter->learnt.coarse_most_ticks)
        waiter->learnt.coarse_ticks += 1;
    else
        waiter->learnt.coarse_ticks -= 1.0 / 256;
}

/*
 * Another thread on the same core, perhaps of another virtual machine, slows it by some percent.
 * The fastest polls of late show its speed without one. If the core has become slower for good,
 * this is believed after a thousand waits.
 */
int waiter_shares_core(struct waiter *waiter)
{
    enum { ENOUGH = 24 };
    double polls = waiter->approach.polls, *fastest = &waiter->learnt.poll_ticks;
    if (polls < ENOUGH)
        return 0;
    double mean = (double)waiter->approach.polled_ticks / polls;
    double tolerance = 1.02 + 1 / polls; /* first and last poll are known to a step */
    int shared = *fastest > 0 && mean > *fastest * tolerance;
    double part = *fastest <= 0 ? 1 : mean > *fastest ? 1.0 / 1024 : 1.0 / 8;
    *fastest += (mean - *fastest) * part;
    return shared;
}

/* A wait with one turn shows how long a turn is; a wait without one shows the shortest run. */
static void track_latency(struct waiter *waiter, int turns, double wrong)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    if (turns == 1) {
        learnt->longer_quarters =
            clamp(learnt->longer_quarters + wrong / 4, 1, APPROACH_TABLE_ENTRIES - 1);
        waiter->approach.longer_quarters = (int32_t)(learnt->longer_quarters + 0.5);
    } else if (turns == 0) {
        learnt->shortest_ticks += wrong / 16;
        learnt->longest_ticks += wrong / 16;
    }
}

void waiter_track(struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    int can_track = waiter->can_track;
    waiter->can_track = 0;
    if (!can_track)
        return;
    int turns = waiter_turns(waiter);
    double wrong = waiter_event(waiter, 1) - predicted(waiter);
    int small = waiter->vernier.step_ticks < STEPPED_TICKS || fabs(wrong) < BELIEVED_TICKS;
    int inside = a->allowed_256 >= 0 && a->run > TABLE_SHORTEST_RUN;
    if (waiter->vernier.readings > 1)
        track_offsets(waiter);
    track_coarse(waiter);
    double most = small ? 1 : 1.0 / 8;
    if (inside)
        track_latency(waiter, turns, clamp(wrong, -most, most));
}
