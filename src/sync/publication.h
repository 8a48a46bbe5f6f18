/* SPDX-License-Identifier: MIT */
/* publication: by which lines each CPU is read from now on, from what was measured of all of them. */
#ifndef SYNC_PUBLICATION_H
#define SYNC_PUBLICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "drift.h"
#include "handle.h"

/* False: there is no memory. The reference CPU is the first of the map. */
bool publication_make_table(struct timebase_cpus *cpus);

/* Does this process read by the handle's table? */
bool publication_is_in_force(const struct timebase_cpus *cpus);

/*
 * New lines, and the table is in force. *again_ns: when the next ones are wanted. Returns 0 or
 * TIMEBASE_E_UNSUPPORTED.
 */
int publication_renew(struct timebase_cpus *cpus, const struct by_cpu_anchor *anchor,
                      int64_t *again_ns);

/* The lines in force stay, but for the CPUs of which nothing is known any more (skew_doubt(), or they
 * have been away). */
void publication_withdraw(struct timebase_cpus *cpus);

/* Counters mostly share a crystal: no drift, as long as none is possible. */
double publication_rate(const struct drift_rate *slopes);

#endif
