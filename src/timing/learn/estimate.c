/* SPDX-License-Identifier: MIT */
#include "estimate.h"

#include "within.h"

void estimate_init(struct estimate *estimate, double value, int most)
{
    *estimate = (struct estimate){.value = value, .count = most, .most = most};
}

static void learn_near(struct estimate *estimate, double wrong, double units)
{
    in_a_row_near(&estimate->far);
    estimate->count += estimate->count < estimate->most;
    estimate->value += wrong / estimate->count / units;
}

static void move(struct estimate *estimate, double more, double units)
{
    double known = estimate->value;
    in_a_row_near(&estimate->far);
    estimate->value = within(known / 2, known + more / units, known * 2);
    estimate->count = 1;
}

static void learn_far(struct estimate *estimate, double wrong, double units)
{
    double more = in_a_row_far(&estimate->far, wrong, IN_A_ROW_USUALLY);
    if (more != 0)
        move(estimate, more, units);
}

int estimate_is_shorter(struct estimate *estimate, double seen, double units, double far)
{
    const double farther = 1.5;
    double wrong = seen - estimate->value * units;
    if (wrong > -farther * far)
        return 0;
    move(estimate, wrong, units);
    return 1;
}

void estimate_learn(struct estimate *estimate, double seen, double units, double far)
{
    double wrong = seen - estimate->value * units;
    if (wrong > -far && wrong < far)
        learn_near(estimate, wrong, units);
    else
        learn_far(estimate, wrong, units);
}
