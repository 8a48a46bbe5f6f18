/* SPDX-License-Identifier: MIT */
/* trial: one wait by one method, and what it came to. */
#ifndef TIMEBASE_BENCH_ACCURACY_TRIAL_H
#define TIMEBASE_BENCH_ACCURACY_TRIAL_H

#include "accuracy.h"

/* TIMEBASE_OK, or why there can be no trial of it. */
int bench_trial_check(const struct timebase_bench_method *method);

/* A delay needs no ahead_ticks. The method has been checked. */
int bench_trial(const struct timebase_bench_method *method, uint32_t ahead_ticks,
                struct timebase_bench_hit *out);

#endif
