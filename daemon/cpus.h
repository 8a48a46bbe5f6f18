/* SPDX-License-Identifier: MIT */
/*
 * spread: what the counters of this machine's CPUs differ by, measured when the daemon begins.
 * Every sample carries it into the bound: a reader may be on another CPU than the daemon.
 */
#ifndef DAEMON_SPREAD_H
#define DAEMON_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

struct cpus {
    uint64_t spread_ticks; /* 0 while it is not known */
    int64_t retry_ns;      /* monotonic; INT64_MAX: it is known, or cannot be */
    unsigned attempts;
};

/* Takes up to 50 ms. Told in the log. */
void cpus_measure(struct cpus *cpus, int64_t mono_ns);

/*
 * The other CPUs were all too busy: tries once more when it is time, for call right after a
 * publication, when there is nothing else to do. True if spread_ticks has become known.
 */
bool cpus_measure_again(struct cpus *cpus, int64_t mono_ns);

#endif
