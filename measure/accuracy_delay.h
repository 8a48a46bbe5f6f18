/* SPDX-License-Identifier: MIT */
/* delay: a trial of a delay, from its call to its return. */
#ifndef TIMEBASE_BENCH_ACCURACY_DELAY_H
#define TIMEBASE_BENCH_ACCURACY_DELAY_H

#include <stdbool.h>

#include "accuracy.h"

/* False for a loop that cannot make a delay. */
bool bench_delay_exists(int loop);

int bench_delay(const struct timebase_bench_method *method, struct timebase_bench_hit *out);

#endif
