/* SPDX-License-Identifier: MIT */
/*
 * anchor: the reference CPU's counter by the kernel's clock, for the CPUs that have no lines. And
 * does it keep going? A counter that stops in idle makes fewer ticks over a rest than while it is
 * watched.
 */
#ifndef SYNC_ANCHOR_H
#define SYNC_ANCHOR_H

#include <stdbool.h>

#include "clock/counter/by_cpu.h"

/* Both clocks at one moment. */
struct anchor_point {
    uint64_t os_ns, ticks;
    uint64_t error_ticks; /* the counter showed `ticks` then, give or take so much */
};

struct anchor {
    bool is_begun;
    struct anchor_point base; /* the pace is counted from here */
    struct anchor_point last; /* and this was taken last, */
    double ticks_per_ns;      /* with this pace; 0: none was */
    double wander;            /* the two were seen to part by so much, ns per ns, lately */
};

enum anchor_result {
    ANCHOR_TAKEN,
    ANCHOR_TOO_YOUNG, /* no pace to be had yet: once more, after a rest */
    ANCHOR_REFUSED,   /* this thread may not run on the reference CPU, or not read the clock */
    ANCHOR_STOPS,     /* the reference CPU's own counter stood still, or was set; begun anew */
};

/* Moves this thread to the reference CPU for a millisecond, and back. */
enum anchor_result anchor_take(struct anchor *anchor, int reference_cpu,
                               struct by_cpu_anchor *out);

#endif
