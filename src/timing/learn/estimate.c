/* SPDX-License-Identifier: MIT */
#include "estimate.h"

enum { IN_A_ROW = 4 };

void estimate_init(struct estimate *estimate, double value, int most)
{
    *estimate = (struct estimate){.value = value, .count = most, .most = most};
}

static void learn_near(struct estimate *estimate, double wrong, double units)
{
    estimate->far = 0;
    estimate->count += estimate->count < estimate->most;
    estimate->value += wrong / estimate->count / units;
}

static void learn_far(struct estimate *estimate, double wrong, double units)
{
    int is_other_side = (wrong < 0) != (estimate->least < 0);
    if (estimate->far == 0 || is_other_side) {
        estimate->far = 0;
        estimate->least = wrong;
    }
    if (wrong < 0 ? wrong > estimate->least : wrong < estimate->least)
        estimate->least = wrong;
    if (++estimate->far < IN_A_ROW)
        return;
    double next = estimate->value + estimate->least / units;
    estimate->value = next < estimate->value / 2 ? estimate->value / 2
        : next > estimate->value * 2             ? estimate->value * 2
                                                 : next;
    estimate->count = 1;
    estimate->far = 0;
}

void estimate_learn(struct estimate *estimate, double seen, double units, double far)
{
    double wrong = seen - estimate->value * units;
    if (wrong > -far && wrong < far)
        learn_near(estimate, wrong, units);
    else
        learn_far(estimate, wrong, units);
}
