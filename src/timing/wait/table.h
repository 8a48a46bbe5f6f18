/* SPDX-License-Identifier: MIT */
/*
 * table: how many instructions fill how much time. The report of 1997 tuned a table by hand,
 * indexed by the target's phase in the polling loop. This one is measured, and indexed by the time
 * left after a sample. Pure.
 */
#ifndef WAIT_TABLE_H
#define WAIT_TABLE_H

#include <stdint.h>

#include "approach.h"

enum {
    TABLE_SHORTEST_RUN = 8, /* below, entering the run is not linear in its length */
    TABLE_RUN_STEP = 24,
    TABLE_LINE = 16, /* instructions in a cache line */
    TABLE_RUNS = (APPROACH_LONGEST_RUN - TABLE_SHORTEST_RUN) / TABLE_RUN_STEP + 1,
};

_Static_assert(APPROACH_LONGEST_RUN % TABLE_LINE == TABLE_LINE / 2, "where a run ends in its line");

/*
 * latencies[i]: ticks from first reading to event with TABLE_SHORTEST_RUN + i * TABLE_RUN_STEP
 * instructions. Entry j gets the run whose latency is nearest to latencies[0] + (j + 1/2) / 4;
 * between the points, latency is linear. Returns 0, or 1 if they do not grow: no table.
 */
int table_build(uint8_t table[APPROACH_TABLE_ENTRIES], const double latencies[TABLE_RUNS]);

#endif
