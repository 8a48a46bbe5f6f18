/* SPDX-License-Identifier: MIT */
#include "calibration_trials.h"

static void add(struct trials *trials, const struct rehearsal *done, int most)
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
    all.count = out->count = 0;
    while (out->count < most && all.count < PATIENCE * most) {
        struct rehearsal done = run(waiter, plan);
        add(&all, &done, most);
        if (!plan.exact || done.is_even)
            add(out, &done, most);
    }
    if (out->count >= most / FEW)
        return;
    *out = all;
    out->count = most;
}
