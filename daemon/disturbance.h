/* SPDX-License-Identifier: MIT */
/*
 * machine: what befalls the machine and is not in a sample: the kernel has changed its clocksource,
 * or has not let the daemon run.
 */
#ifndef DAEMON_MACHINE_H
#define DAEMON_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

struct machine {
    char clocksource[32]; /* "tsc"; empty: not known */
    int64_t looked_ns;    /* monotonic */
    uint64_t clocksource_changes;
    uint64_t stalls;
};

/* The clocksource there is at the start. */
void machine_start(struct machine *machine, int64_t mono_ns);

/*
 * Every few seconds the clocksource is looked at. True if it has changed: the kernel may know
 * something about the counter.
 */
bool machine_clocksource_changed(struct machine *machine, int64_t mono_ns);

/*
 * The daemon wanted to run at due_ns and does at mono_ns. True if it was kept from it for long: by
 * other processes, or because the machine stood still. Counted.
 */
bool machine_stalled(struct machine *machine, int64_t due_ns, int64_t mono_ns);

#endif
