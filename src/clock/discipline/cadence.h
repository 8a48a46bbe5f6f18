/* SPDX-License-Identifier: MIT */
/*
 * cadence: how often a clock is compared with its reference, and how far ahead each correction is
 * published. Pure.
 */
#ifndef DISCIPLINE_CADENCE_H
#define DISCIPLINE_CADENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "plan.h"

struct cadence {
    uint64_t interval_ns; /* from one sample to the next; 0 before the first lines */
    bool is_manual;       /* somebody else decides when */
};

/* The interval that begins with a sample taken gap_ns after the one before. */
uint64_t cadence_next_ns(const struct cadence *cadence, uint64_t gap_ns);

/*
 * When the lines planned at now_ticks begin and end. `is_urgent`: a step of UTC or a disruption
 * is to be corrected at once. `attempt` counts plans that were overtaken by time.
 */
struct schedule cadence_schedule(const struct cadence *cadence, uint64_t now_ticks, bool is_urgent,
                                 unsigned attempt);

#endif
