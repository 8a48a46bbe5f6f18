/* SPDX-License-Identifier: MIT */
/*
 * contradiction: does a corrected reading contradict its order? Between two measurements a counter may
 * be set, or stand still. Readers would see it at the cost of a word that all of them write; so those
 * who keep the table look for them: pairs of threads on two CPUs throw some corrected readings to each
 * other (lane.h). Who has received one reads no less, or the lines of one of the two are wrong.
 * A step that is shorter than the quickest of these throws nobody can see.
 */
#ifndef SYNC_CONTRADICTION_H
#define SYNC_CONTRADICTION_H

#include <stdbool.h>
#include <stdint.h>

#include "handle.h"

/*
 * Compare CPU after CPU, each with the one it was measured against, for so long and some milliseconds
 * more, from where the last call ended. True: readings of some contradicted their order. Of those CPUs
 * nothing is known any more (skew_doubt()). The table is as it was.
 */
bool contradiction_look(struct timebase_cpus *cpus, int64_t budget_ns);

/* The last call came to the last CPU. */
bool contradiction_is_through(const struct timebase_cpus *cpus);

#endif
