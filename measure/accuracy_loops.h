/* SPDX-License-Identifier: MIT */
/* loops: the polling loops that wait for a tick, as the paper has them. */
#ifndef TIMEBASE_BENCH_ACCURACY_LOOPS_H
#define TIMEBASE_BENCH_ACCURACY_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

/* False for a loop or a place that is not there. */
bool bench_loop_exists(int loop, int place);

/* Returns when the counter, as the loop reads it, has reached the target. */
void bench_loop_until(int loop, int place, uint64_t target_ticks);

#endif
