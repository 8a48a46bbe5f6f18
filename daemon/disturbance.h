/* SPDX-License-Identifier: MIT */
/*
 * disturbance: what befalls the machine and is not in a sample: the kernel distrusts the counter,
 * or has not let the daemon run.
 */
#ifndef DAEMON_DISTURBANCE_H
#define DAEMON_DISTURBANCE_H

#include <stdbool.h>
#include <stdint.h>

struct disturbance {
    char clocksource[32]; /* "tsc"; empty: not known */
    char available[128];  /* all that the kernel offers, when last looked at */
    int counter_id;       /* whose ticks the page is about */
    bool is_distrusted;   /* by the kernel, when last looked at */
    int64_t looked_ns;    /* monotonic */
    uint64_t clocksource_changes;
    uint64_t stalls;
};

/* The clocksource there is at the start, and the verdict that follows from it. */
void disturbance_start(struct disturbance *disturbance, int counter_id, int64_t mono_ns);

/*
 * Every few seconds the clocksource is looked at. True if it has changed: the kernel may know
 * something about the counter.
 */
bool disturbance_clocksource_changed(struct disturbance *disturbance, int64_t mono_ns);

/*
 * Does the kernel distrust the counter? It uses another one, though it offers this one or has
 * struck it off its list; a paravirtual clock on the same counter is no distrust. For as long as it
 * is so, whatever pace the counter shows. A file that cannot be read leaves the verdict as it was.
 */
bool disturbance_kernel_distrusts(const struct disturbance *disturbance);

/*
 * The daemon wanted to run at due_ns and does at mono_ns. True if it was kept from it for long: by
 * other processes, or because the machine stood still. Counted.
 */
bool disturbance_stalled(struct disturbance *disturbance, int64_t due_ns, int64_t mono_ns);

#endif
