/* SPDX-License-Identifier: MIT */
/* account: records each release in the results and the log. */
#ifndef CALENDAR_ACCOUNT_H
#define CALENDAR_ACCOUNT_H

#include <timebase/calendar.h>

/* Results of n units, nothing run yet. */
void account_begin(struct timebase_unit_result *results, uint32_t units, const int64_t *moved_ns);

/* A release that was run and took so long. */
void account_run(struct timebase_unit_result *result, const struct timebase_release *release,
                 double error_ns, int64_t ran_ns);

/* Releases that were not run. */
void account_skipped(struct timebase_unit_result *result, uint64_t count);

/* Hand the entry to the log's reader, or count it as lost; log may be null. */
void account_log(struct timebase_release_log *log, const struct timebase_release *release);

#endif
