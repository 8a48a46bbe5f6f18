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

#endif
