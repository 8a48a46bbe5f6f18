/* SPDX-License-Identifier: MIT */
/*
 * metrics: a file for Prometheus, in its text format, replaced as a whole. node_exporter's textfile
 * collector reads it, or a web server serves it.
 */
#ifndef DAEMON_METRICS_H
#define DAEMON_METRICS_H

#include <stddef.h>

#include "shared_clock.h"

/* Enough for 16 sources with the longest names, all characters escaped. */
enum { METRICS_BYTES = 1 << 16 };

struct metrics {
    bool is_up; /* false in the last file of all */
    const char *version;
    const char *page;
    const struct shared_clock *shared;
    const struct sources *sources;
    uint64_t stalls;
    uint64_t clocksource_changes;
    uint64_t page_repairs;
    unsigned corrected_cpus;
    uint64_t contradictions;
    uint64_t timeline_bytes;
    uint64_t timeline_failures;
    int64_t start_utc_ns; /* of the daemon */
};

/* Into text[size]: its length. Cut at the end of a line if there is no room. */
size_t metrics_format(const struct metrics *metrics, char *text, size_t size);

#endif
