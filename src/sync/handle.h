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
};

#endif
