/* SPDX-License-Identifier: MIT */
/*
 * calibration_trials: the rehearsals that a calibration counts. What else uses the core delays some
 * of them: of exact ones count those whose polls agreed with each other, as long as there are some.
 */
#ifndef CALIBRATION_CALIBRATION_TRIALS_H
#define CALIBRATION_CALIBRATION_TRIALS_H

#include "timing/stages/rehearsal.h"

enum { TRIALS_MOST = 256 };

/* What the counter's step makes of the difference of two readings, and a little more. */
static inline double trials_reach_ticks(const struct waiter *waiter)
{
    return 1.5 * waiter->vernier.step_ticks + 8;
}

struct trials {
    double errors[TRIALS_MOST], stamps[TRIALS_MOST]; /* of rehearsals, as they came */
    int count;
};

static inline void trials_add(struct trials *trials, double error_ticks, double stamp_ticks)
{
    trials->errors[trials->count] = error_ticks;
    trials->stamps[trials->count++] = stamp_ticks;
}

/* rehearsal_near(), or what has one in it. */
typedef struct rehearsal trial(struct waiter *waiter, struct rehearsal_plan plan);

/* Adds at most so many; and so many where they need not be even. At most TRIALS_MOST in all. */
void trials_run(struct waiter *waiter, struct rehearsal_plan plan, trial *run, int most,
                struct trials *out);

#endif
