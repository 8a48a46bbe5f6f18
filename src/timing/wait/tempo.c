/* SPDX-License-Identifier: MIT */
#include "tempo.h"

#define MOST_TICKS 2 /* of one difference */
#define STEP_TICKS 6 /* if the median is further off, the core clock has changed */
#define GAIN (1.0 / 8)

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static double within(double low, double value, double high)
{
    return most(low, least(value, high));
}

/* Without a branch: sorting is predicted wrongly, and takes 200 ns. */
static double median_of_5(const double v[TEMPO_RING])
{
    double low = most(least(v[0], v[1]), least(v[2], v[3]));
    double high = least(most(v[0], v[1]), most(v[2], v[3]));
    return most(least(low, high), least(most(low, high), v[4]));
}

void tempo_init(struct tempo *tempo, double cycle_ticks)
{
    tempo->cycle_ticks = cycle_ticks;
    tempo->count = 0;
    for (int i = 0; i < TEMPO_RING; i++)
        tempo->ring[i] = cycle_ticks;
}

void tempo_learn(struct tempo *tempo, double ticks, double cycles, double bound_ticks)
{
    double believed = tempo->cycle_ticks, wrong = ticks - cycles * believed;
    wrong -= within(-bound_ticks, wrong, bound_ticks);
    tempo->ring[tempo->count++ % TEMPO_RING] = believed + wrong / cycles;
    double next = believed + within(-MOST_TICKS, wrong, MOST_TICKS) * GAIN / cycles;
    double median = within(believed / 2, median_of_5(tempo->ring), believed * 2);
    double off = (median - next) * cycles;
    tempo->cycle_ticks = off > STEP_TICKS || off < -STEP_TICKS ? median : next;
}
