/* SPDX-License-Identifier: MIT */
/* The counter, read more finely than its step: for everybody, as a stopwatch. */
#include <stddef.h>

#include "timing/approach/hide.h"
#include "timing/learn/within.h"
#include "timing/waiter/readings.h"

/* Most agree, and they leave little open. A single one is as good as it can be. */
static int is_good(const struct waiter *waiter, int agree, double bound_ticks)
{
    const struct vernier *vernier = &waiter->vernier;
    if (!waiter_has_vernier(waiter))
        return 1;
    return agree * 2 > vernier->readings && bound_ticks * 4 <= vernier->step_ticks;
}

/* The 4th in a row, the 8th, the 16th, ... and each 256th. */
static int is_due(unsigned bad)
{
    enum { LEAST = 4, OFTEN = 256 };
    return bad >= LEAST && ((bad & (bad - 1)) == 0 || bad % OFTEN == 0);
}

/*
 * One that only reads has no rehearsals to follow how far apart readings are. But to learn takes
 * 50 ns, which lie between this reading and the next one: so only what stays bad teaches, and the
 * less often the longer it does.
 */
static __attribute__((noinline)) void follow(struct waiter *waiter,
                                             const uint32_t readings[APPROACH_FINE], int good)
{
    waiter->bad_readings = good ? 0 : waiter->bad_readings + 1;
    if (good)
        estimate_confirm(&waiter->spacing);
    if (!is_due(waiter->bad_readings))
        return;
    estimate_doubt(&waiter->spacing);
    waiter_learn_spacing(waiter, readings);
    waiter_publish_tempo(waiter);
}

/*
 * The first reading waits for the end of some roots, from the end of all before. Meanwhile all code
 * from the call to it is fetched, and what is predicted wrongly is seen: 4 ticks or 17 as a
 * neighbour drove it out or not, and all errors that a stopwatch tells would be off by the
 * difference.
 */
static inline void hide_the_way(void)
{
#ifdef __x86_64__
    __asm__ volatile("lfence");
#endif
    APPROACH_HIDE(4);
}

/*
 * A neighbour makes the gap between two readings, 49 ticks, longer by up to 23. What is more than
 * half of it, or of the way itself, is none: an emulator beside others' work, where one reading says
 * nothing of the next. Within the half no reading is told to be before its call, or behind its end.
 */
static double within_a_neighbours_reach(const struct waiter *waiter, double later_ticks)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double gap_ticks = learnt->usual_gap_ticks, way_ticks = learnt->reading_ticks;
    double most = (gap_ticks < way_ticks ? gap_ticks : way_ticks) / 2;
    return within(-most, later_ticks, most);
}

/*
 * The way to a reading takes as much longer beside a neighbour as the way from one reading to the
 * next does: 8 ns. So what is placed tells how far apart two are now, for those that are taken
 * later; what was taken says the same for good.
 */
static __attribute__((noinline)) void follow_gap(struct waiter *waiter)
{
    uint64_t first = timebase_ticks_ordered();
    double gap_ticks = (double)(timebase_ticks_ordered() - first);
    estimate_learn(&waiter->reading_gap, gap_ticks, 1, waiter->reading_gap.value / 2);
    double later_ticks = waiter->reading_gap.value - waiter->learnt.usual_gap_ticks;
    later_ticks = within_a_neighbours_reach(waiter, later_ticks);
    waiter->reading_later = (int32_t)waiter_scaled(later_ticks, APPROACH_TICK_BITS);
    waiter->gap_ticks = (uint32_t)first;
}

/* It costs 50 ns. */
static inline void follow_gap_if_due(struct waiter *waiter, uint32_t ticks)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    if (learnt->usual_gap_ticks > 0 && ticks - waiter->gap_ticks > learnt->gap_every_ticks)
        follow_gap(waiter);
}

/* Where one reading is enough the next place says how much longer the way to it took. */
enum { THE_READING, LATER };

_Static_assert(sizeof(((struct timebase_fine_readings *)0)->ticks) ==
                   APPROACH_FINE * sizeof(uint32_t),
               "as many as there are");

static inline int take(const struct timebase_waiter *public, struct timebase_fine_readings *out)
{
    hide_the_way();
    struct waiter *waiter = waiter_checked(public);
    if (waiter == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    waiter_read(waiter, out->ticks);
    if (!waiter_has_vernier(waiter))
        out->ticks[LATER] = (uint32_t)waiter->reading_later;
    return TIMEBASE_OK;
}

TIMEBASE_API int timebase_wait_take_fine(const struct timebase_waiter *public,
                                         struct timebase_fine_readings *out)
{
    return take(public, out);
}

TIMEBASE_API int timebase_wait_place_fine(const struct timebase_waiter *public,
                                          const struct timebase_fine_readings *readings,
                                          uint64_t base_ticks, struct timebase_fine_reading *out)
{
    struct waiter *waiter = waiter_checked(public);
    if (waiter == NULL || readings == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    int agree = waiter_intersect(waiter, readings->ticks, base_ticks, out);
    out->last_ticks = waiter_last(waiter, readings->ticks, base_ticks);
    out->ticks -= waiter->learnt.reading_ticks;
    if (!waiter_has_vernier(waiter)) {
        out->ticks -= (double)(int32_t)readings->ticks[LATER] / (1 << APPROACH_TICK_BITS);
        follow_gap_if_due(waiter, readings->ticks[THE_READING]);
        return 0;
    }
    follow(waiter, readings->ticks, is_good(waiter, agree, out->bound_ticks));
    return agree == 1;
}

TIMEBASE_API int timebase_wait_read_fine(const struct timebase_waiter *public, uint64_t base_ticks,
                                         struct timebase_fine_reading *out)
{
    struct timebase_fine_readings readings;
    int error = take(public, &readings);
    return error != TIMEBASE_OK ? error
                                : timebase_wait_place_fine(public, &readings, base_ticks, out);
}
