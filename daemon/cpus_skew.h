/* SPDX-License-Identifier: MIT */
/*
 * cpus_skew: what the counters of this machine's CPUs differ by, measured when the daemon begins,
 * again from time to time, when CPUs have come, and when the machine has slept or was disrupted: it
 * may have been moved to another host, whose counters nobody has compared. Every sample carries it
 * into the bound: a reader may be on another CPU than the daemon.
 *
 * A reader may also run on a CPU that was never measured (hidden by a cpuset, busy all the time).
 * If the kernel itself uses the counter on all CPUs, it has found them to agree, and a microsecond
 * is allowed for such a CPU. If not, readers there are promised nothing.
 */
#ifndef DAEMON_CPUS_SKEW_H
#define DAEMON_CPUS_SKEW_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/discipline/discipline.h"
#include "online_list.h"
#include "sync/skew.h"

enum cpus_verdict {
    CPUS_COMPARED, /* each with the others */
    CPUS_ALLOWED,  /* some were not, and the kernel vouches for these */
    CPUS_UNKNOWN,  /* nobody does */
};

struct cpus_skew {
    uint64_t skew_ticks;      /* two measured CPUs differ by no more; 0 while nothing is known */
    uint64_t allowance_ticks; /* a microsecond */
    struct skew skew;
    struct skew_map map;
    struct online_list online;
    uint64_t disturbances; /* as cpus_heed() was told last */
    bool is_forgotten;   /* because of one, and not each CPU was tried again since */
    int64_t listed_ns;   /* whether the CPUs are still the same, monotonic */
    int64_t looked_ns;   /* whether some are not known yet */
    int64_t measured_ns; /* all of them were begun with */
    bool is_told;        /* the log has it, as it was then: */
    struct skew told;
};

/* Takes up to 50 ms, and measures as many CPUs as it can in that time. */
void cpus_measure(struct cpus_skew *cpus, int64_t mono_ns);

/*
 * Measures more CPUs, if there are any left, for some milliseconds. To be called right after a
 * publication, when there is nothing else to do. True if skew_ticks or the verdict may have
 * changed.
 */
bool cpus_measure_again(struct cpus_skew *cpus, int64_t mono_ns);

/*
 * So many sleeps and disruptions have been seen. If they are more than before, what was measured
 * and what the kernel has found are about another machine.
 */
void cpus_heed(struct cpus_skew *cpus, uint64_t disturbances);

/* What may be promised. is_vouched_for: the kernel's own clock is this counter. Both are pure. */
enum cpus_verdict cpus_verdict(const struct skew *skew, bool is_vouched_for);
enum cpus_verdict cpus_judge(const struct cpus_skew *cpus, bool is_vouched_for);

/* For the sample: the measured skew, or with what is allowed. Pure. */
uint64_t cpus_ticks(const struct cpus_skew *cpus, enum cpus_verdict verdict);

/* Puts the spread into a sample. On CPUs that nobody has measured it promises no UTC. */
void cpus_apply(const struct cpus_skew *cpus, enum cpus_verdict verdict,
                struct discipline_sample *sample);

void cpus_close(struct cpus_skew *cpus);

#endif
