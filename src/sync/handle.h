/* SPDX-License-Identifier: MIT */
/* handle: what a timebase_cpus is. */
#ifndef SYNC_HANDLE_H
#define SYNC_HANDLE_H

#include "anchor.h"
#include "skew.h"

struct timebase_cpus {
    struct skew_map map;
    struct anchor anchor;
    int reference_cpu;          /* of the table */
    struct by_cpu_table *table; /* NULL: nothing is corrected by this handle */
    uint64_t renewals;          /* of the table, so many */
    uint64_t renewed_ticks;     /* the reference CPU's: the last one, */
    uint64_t lasting_ticks;     /* and the next one is due after so many, */
    int64_t lasting_ns;         /* or so long */
    bool is_doubted;            /* it is due now */
    bool is_measuring;          /* it has begun, */
    int64_t left_ns;            /* and may take so long yet */
    unsigned looked_at;         /* readings there were compared last, by index */
    uint64_t contradictions;    /* of an order, by a reading there */
};

/* cpus.c: all CPUs once more, in rounds of so long: begun, and gone on with. False: not through yet. */
void cpus_begin(struct timebase_cpus *cpus);
bool cpus_go_on(struct timebase_cpus *cpus, int64_t budget_ns);

/* All of it takes no longer. */
int64_t cpus_whole_ns(const struct timebase_cpus *cpus);

#endif
