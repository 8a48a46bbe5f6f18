/* SPDX-License-Identifier: MIT
 *
 * A cell of the table: one way to wait, one target, and every trial of it.
 */
#ifndef WAITS_TRIAL_H
#define WAITS_TRIAL_H

#include <stddef.h>

#include "../../../../measure/core.h"
#include "peer.h"
#include "stopwatch.h"

enum kind {
    KIND_DELAY = 0,   /* stop - start - asked, in ticks; what the stopwatch adds is in costs[] */
    KIND_PERIOD = 1,  /* stop - target of a grid */
    KIND_READING = 2, /* the stopwatch right after a plain reading, less that reading */
    KIND_PAIR = 3,    /* a plain reading right after another, less that one */
    KIND_LATER = 4,   /* as READING, after asked_ns of plain readings: what that leaves cold */
};

enum { CHUNK = 50 }; /* trials between two looks at the core */

struct cell {
    const struct peer *peer;
    enum kind kind;
    uint64_t asked_ns;
    uint32_t batch; /* trials of a round */
    double *trials; /* ticks */
    double *costs;  /* delays: the stopwatch around nothing, just before each trial; ticks */
    size_t count;
    struct timebase_bench_core *looks; /* before and after each chunk of a batch */
    size_t looked;
    int64_t cpu_ns; /* this thread's CPU time and the time that passed, over all batches */
    int64_t wall_ns;
    uint64_t skipped; /* instants of a grid that had passed before they could be waited for */
};

/* Of a round: a batch is cut into chunks, the last of which may be shorter. */
size_t cell_looks_of_batch(uint32_t batch);

/* Runs a batch: a few trials that do not count, for caches that other peers have left cold, then
 * `batch` that do. */
void trial_batch(struct cell *cell, struct stopwatch *watch, double ticks_per_ns);

#endif
