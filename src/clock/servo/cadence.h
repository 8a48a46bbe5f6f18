/* SPDX-License-Identifier: MIT */
/*
 * cadence: how often a clock is compared with its reference, and how far ahead of their first tick
 * new lines are published. Pure.
 */
#ifndef SERVO_CADENCE_H
#define SERVO_CADENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/discipline/plan.h"

struct cadence {
    uint64_t first_ns; /* the first poll interval; each next one is twice as long */
    uint64_t max_ns;   /* and no longer than this */
    uint64_t lead_ns;  /* from planning to the first tick of the slew; 0: a part of the interval */
    uint64_t lease_ns; /* readers may use a copy of the page for so long; 0: they read the page */
    bool is_manual;    /* somebody else decides when */
};

/* Of a clock whose readers look at the page itself, and renew it when they need to. */
struct cadence cadence_own(bool is_manual);

/* Of a page that is stored, and of which readers have copies; polled every max_ns. */
struct cadence cadence_shared(uint64_t max_ns);

/*
 * The poll interval that begins with a sample taken gap_ns after the one before. After a disruption
 * the pace may have changed too, and the clock is to be looked at soon.
 */
uint64_t cadence_next_ns(const struct cadence *cadence, uint64_t interval_ns, uint64_t gap_ns,
                         bool is_disrupted);

/*
 * When the lines planned at now_ticks begin and end. `is_urgent`: a step of UTC or a disruption
 * is to be corrected at once. `attempt` counts plans that were overtaken by time.
 */
struct schedule cadence_schedule(const struct cadence *cadence, uint64_t interval_ns,
                                 uint64_t now_ticks, bool is_urgent, unsigned attempt);

#endif
