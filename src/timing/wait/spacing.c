/* SPDX-License-Identifier: MIT */
#include "spacing.h"

#define FAR_TICKS 1.25 /* three times what the counter's step makes of it */

enum { IN_A_ROW = 4, MOST = 256 };

void spacing_init(struct spacing *spacing, double cycles)
{
    *spacing = (struct spacing){.cycles = cycles, .count = MOST};
}

/* Least squares: the sum of (k - (n - 1) / 2)^2 is n (n^2 - 1) / 12. */
double spacing_of_readings(const uint32_t *readings, int n)
{
    int64_t sum = 0;
    for (int k = 1; k < n; k++)
        sum += (int64_t)(2 * k - (n - 1)) * (int32_t)(readings[k] - readings[0]);
    return 6.0 * (double)sum / ((double)n * ((double)n * n - 1));
}

static void learn_near(struct spacing *spacing, double wrong, double cycle_ticks)
{
    spacing->far = 0;
    spacing->count += spacing->count < MOST;
    spacing->cycles += wrong / spacing->count / cycle_ticks;
}

static void learn_far(struct spacing *spacing, double wrong, double cycle_ticks)
{
    int is_other_side = (wrong < 0) != (spacing->least < 0);
    if (spacing->far == 0 || is_other_side) {
        spacing->far = 0;
        spacing->least = wrong;
    }
    if (wrong < 0 ? wrong > spacing->least : wrong < spacing->least)
        spacing->least = wrong;
    if (++spacing->far < IN_A_ROW)
        return;
    spacing->cycles += spacing->least / cycle_ticks;
    spacing->count = 1;
    spacing->far = 0;
}

void spacing_learn(struct spacing *spacing, double ticks, double cycle_ticks)
{
    double wrong = ticks - spacing->cycles * cycle_ticks;
    if (wrong > -FAR_TICKS && wrong < FAR_TICKS)
        learn_near(spacing, wrong, cycle_ticks);
    else
        learn_far(spacing, wrong, cycle_ticks);
}
