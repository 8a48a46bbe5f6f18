/* SPDX-License-Identifier: MIT */
#include "calibration_trials.h"

/* The last ones of all. */
static void keep(struct trials *trials, const struct rehearsal *done, int most)
{
    trials->errors[trials->count % most] = done->error_ticks;
    trials->stamps[trials->count % most] = done->stamp_ticks;
    trials->count++;
}

void trials_run(struct waiter *waiter, struct rehearsal_plan plan, trial *run, int most,
                struct trials *out)
{
    enum { PATIENCE = 4, FEW = 8 };
    struct trials all;
    int before = out->count;
    all.count = 0;
    while (out->count < before + most && all.count < PATIENCE * most) {
        struct rehearsal done = run(waiter, plan);
        keep(&all, &done, most);
        if (!plan.exact || done.is_even)
            trials_add(out, done.error_ticks, done.stamp_ticks);
    }
    if (out->count >= before + most / FEW)
        return;
    out->count = before;
    for (int i = 0; i < most; i++)
        trials_add(out, all.errors[i], all.stamps[i]);
}
