/* SPDX-License-Identifier: MIT */
/* state: what the core does before a block of trials, as a program's other work would. */
#ifndef TIMEBASE_BENCH_ACCURACY_STATE_H
#define TIMEBASE_BENCH_ACCURACY_STATE_H

#include <stdint.h>

/* The state must be possible (timebase_bench_state_possible()). */
void bench_state_enter(int state, uint64_t idle_ns);

#endif
