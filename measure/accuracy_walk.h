/* SPDX-License-Identifier: MIT */
/*
 * walk: make caches cold, by filling them with something else. User space cannot switch a cache
 * off, as the paper did. Data of twice the second-level cache are read, and a chain of jumps, one
 * to each line, is executed; the last-level cache is shared and too large, and keeps its lines.
 */
#ifndef TIMEBASE_BENCH_ACCURACY_WALK_H
#define TIMEBASE_BENCH_ACCURACY_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* Makes data and code at the first call. false: no memory. */
bool bench_walk_prepare(void);

/* Over all of it. Needs a successful prepare. */
void bench_walk(void);

/* Over the next sixteenth, for loads that must be interrupted between steps only. */
void bench_walk_part(void);

#endif
