/* SPDX-License-Identifier: MIT */
/* report: logs the events of a step of the shared clock, each one once, with its numbers. */
#ifndef DAEMON_REPORT_H
#define DAEMON_REPORT_H

#include "shared_clock.h"
#include "page_file.h"

/* What was logged before, so that only changes are logged. */
struct report {
    struct servo_counts counts;
    uint32_t status;      /* as readers are told; 0 before there are lines */
    int64_t leap_step_ns; /* announced; 0: none */
    enum claim_notice notice;
    bool is_store_failing;
    bool is_reference_failing;
    struct {
        bool is_known, is_up, is_outdated, is_falseticker;
        const char *reason; /* told while it is down */
    } sources[SETTINGS_SOURCES];
};

/* True if the status has changed. */
bool report_step(struct report *report, const struct shared_clock *shared, enum servo_result result);

/* The page's file was made, repaired or written again, or could not be written: then *problem, else
 * NULL. */
void report_store(struct report *report, const struct page_file *file, enum page_file_event event,
                  const struct problem *problem);

void report_sources(struct report *report, const struct sources *sources);

#endif
