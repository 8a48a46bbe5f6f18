/* SPDX-License-Identifier: MIT
 *
 * What the driver says, and to whom: facts and cells as lines on standard output, trials to a file.
 */
#ifndef WAITS_RESULTS_H
#define WAITS_RESULTS_H

#include "table.h"

/* "granted NAME" and "refused NAME: reason" */
void results_realtime(const struct timebase_realtime *realtime);

/*
 * Rates in ticks a ns: `assumed` is what delays were asked by, `true_rate` what they are now known
 * to have been. Prints
 *   fact NAME VALUE
 *   cell PEER KIND ASKED_NS TRIALS CPU_NS WALL_NS SKIPPED BATCH CHUNK
 * and writes all cells, in that order, as doubles (ticks): the trials, for a delay as many costs,
 * and two looks at the core for each chunk of a batch: cycle and addition.
 */
void results_write(const struct table *table, double assumed, double true_rate, const char *path);

#endif
