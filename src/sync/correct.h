/* SPDX-License-Identifier: MIT */
/* correct: for who keeps a table for others, beside timebase_cpus_correct(). */
#ifndef SYNC_CORRECT_H
#define SYNC_CORRECT_H

#include <stdbool.h>

#include <timebase/cpus.h>

#include "clock/counter/by_cpu_file.h"

/*
 * To go on from lines that others follow, as another process has published them in this boot: the
 * first timebase_cpus_correct() begins its lines where these end. Before that call. False: they show
 * another reference CPU's ticks, or there is no memory; then they are not gone on from.
 */
bool correct_adopt(timebase_cpus *cpus, const struct by_cpu_file_head *head,
                   const struct by_cpu_file_copy *copy);

/*
 * As timebase_cpus_correct(), for a loop that others wait for: measures, or looks at the readings, for so long
 * and some milliseconds more, and goes on in the next call, which is soon then. The first call takes
 * as long as it takes. For who can correct by CPU at all.
 */
int correct_for(timebase_cpus *cpus, int64_t budget_ns, int64_t *again_ns);

/* Something has happened to the machine: the next call measures, whatever was due. */
void correct_doubt(timebase_cpus *cpus);

#endif
