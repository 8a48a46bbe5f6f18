/* SPDX-License-Identifier: MIT
 *
 * All cells: each peer with each target that it can be asked for, and what the stopwatch itself
 * costs.
 */
#ifndef WAITS_TABLE_H
#define WAITS_TABLE_H

#include "trial.h"

enum { CELLS_MOST = 128 };

struct table {
    struct stopwatch watch;
    struct cell cells[CELLS_MOST];
    struct cell *order[CELLS_MOST]; /* in which the next round takes them */
    size_t count;
    uint64_t shuffled;
};

/* Room for so many rounds of each of the group's cells, in memory that has been touched. */
void table_add_group(struct table *table, const struct group *group, size_t rounds);

/* The stopwatch around nothing: subtracted, and the width of all that it says. */
void table_add_stopwatch(struct table *table, size_t rounds);

#endif
