/* SPDX-License-Identifier: MIT */
#include "accuracy.h"

#include <stddef.h>

#include "accuracy_trial.h"

/*
 * Unrecorded trials before the others. The caller's own work has made the caches cold;
 * method->before asks for cold ones.
 */
#define WARM_UP_TRIALS 16

int timebase_bench_hits(const struct timebase_bench_method *method, const uint32_t *ahead_ticks,
                        uint32_t trials, struct timebase_bench_hit *out)
{
    if (method == NULL || ahead_ticks == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    int result = bench_trial_check(method);
    for (uint32_t i = 0; i < WARM_UP_TRIALS && trials != 0 && result == TIMEBASE_OK; i++)
        result = bench_trial(method, ahead_ticks[i % trials], out);
    for (uint32_t trial = 0; trial < trials && result == TIMEBASE_OK; trial++)
        result = bench_trial(method, ahead_ticks[trial], &out[trial]);
    return result;
}
