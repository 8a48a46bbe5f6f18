/* SPDX-License-Identifier: MIT */
/*
 * disturbance: what happens to the machine and is not in a sample: the kernel has changed its
 * clocksource, or has not let the daemon run.
 */
#ifndef DAEMON_DISTURBANCE_H
#define DAEMON_DISTURBANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/counter/probe.h"

struct disturbance {
    int counter_id;       /* whose ticks the page is about */
    char clocksource[32]; /* "tsc"; empty: not known */
    uint64_t clocksource_changes;
    uint64_t stalls;
};

/* The clocksource there is at the start. */
void disturbance_start(struct disturbance *disturbance, int counter_id,
                       const struct counter_clocksource *seen);

/* True if it is another one now: the kernel may know something about the counter. Counted. */
bool disturbance_clocksource_changed(struct disturbance *disturbance,
                                     const struct counter_clocksource *seen);

/*
 * The daemon wanted to run at due_ns and does at mono_ns. True if it was kept from it for long: by
 * other processes, or because the machine stood still. Counted.
 */
bool disturbance_stalled(struct disturbance *disturbance, int64_t due_ns, int64_t mono_ns);

#endif
