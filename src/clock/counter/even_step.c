/* SPDX-License-Identifier: MIT */
/*
 * The step of a counter that steps evenly, but not by whole ticks: reads are n * step + c, rounded
 * down. A TSC of 2450 MHz that is counted at 100 MHz steps by 24.5 ticks, and one that a hypervisor
 * scales by anything. The differences 24, 25, 49 and 73 have no common divisor but 1.
 *
 * How many steps lie between two reads is known where it is known how long one is to a quarter of
 * it, over all of them. That a usual difference is m steps, rounded, says so for the reads that
 * follow soon; each of these tells the step closer, and with it those further on, as numbers of
 * steps grow. A wrong m, and a counter without such steps, find that reads lie anywhere.
 */
#include "probe.h"

enum {
    LEAST_TICKS = 12,    /* of shorter ones, few reads tell how many they are apart */
    TOLERATED_TICKS = 2, /* what is rounded off, and 1 that some processors add: granularity.c */
    FIRST_ONES = 64,     /* differences of reads */
};

struct even_step {
    double ticks, error_ticks;
    double most; /* steps between the two reads that told this */
};

static double nearest(double value)
{
    return (double)(int64_t)(value + 0.5);
}

static double size_of(double value)
{
    return value < 0 ? -value : value;
}

static double off_ticks(const struct even_step *step, double ticks, double steps)
{
    return size_of(ticks - steps * step->ticks);
}

/* Returns 0; or 1 if there is no telling how many steps the read is from the first one. */
static int refine(struct even_step *step, double ticks)
{
    double steps = nearest(ticks / step->ticks);
    double error_ticks = steps * step->error_ticks;
    if (error_ticks > step->ticks / 4)
        return 1;
    if (steps > step->most && off_ticks(step, ticks, steps) <= TOLERATED_TICKS + error_ticks)
        *step = (struct even_step){ticks / steps, 1 / steps, steps};
    return 0;
}

/* Nine reads in ten. */
static int explains(const struct even_step *step, const uint64_t *reads, size_t count)
{
    size_t explained = 0;
    for (size_t i = 1; i < count; i++) {
        double ticks = (double)(int64_t)(reads[i] - reads[0]);
        explained += off_ticks(step, ticks, nearest(ticks / step->ticks)) <= TOLERATED_TICKS;
    }
    return explained * 10 >= (count - 1) * 9;
}

/* A whole number, if it can be one. */
static double rounded(const struct even_step *step)
{
    double whole = nearest(step->ticks);
    return size_of(step->ticks - whole) * step->most <= TOLERATED_TICKS ? whole : step->ticks;
}

/* If a difference of so many ticks is so many steps. 0: it is not. */
static double step_if(const uint64_t *reads, size_t count, double difference_ticks, double steps)
{
    struct even_step step = {difference_ticks / steps, 1 / steps, steps};
    for (size_t i = 1; i < count; i++)
        if (refine(&step, (double)(int64_t)(reads[i] - reads[0])) != 0)
            return 0;
    return explains(&step, reads, count) ? rounded(&step) : 0;
}

/* The median of the first ones, by insertion. */
static double usual_difference(const uint64_t *reads, size_t count)
{
    int64_t sorted[FIRST_ONES];
    size_t differences = count - 1 < FIRST_ONES ? count - 1 : FIRST_ONES;
    for (size_t i = 0; i < differences; i++) {
        int64_t difference = (int64_t)(reads[i + 1] - reads[i]);
        size_t place = i;
        for (; place > 0 && sorted[place - 1] > difference; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = difference;
    }
    return (double)sorted[differences / 2];
}

double counter_even_step(const uint64_t *reads, size_t count)
{
    double usual = count > 1 ? usual_difference(reads, count) : 0, found = 0;
    for (int steps = 1; found == 0 && usual >= LEAST_TICKS * steps; steps++)
        found = step_if(reads, count, usual, steps);
    return found;
}
