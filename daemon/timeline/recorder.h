/* SPDX-License-Identifier: MIT */
/*
 * recorder: keeps the timeline for the daemon. The clock goes on without disk space: a failure is
 * logged once, and writing is tried again.
 */
#ifndef TIMELINE_RECORDER_H
#define TIMELINE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

/* Begin or go on in this folder; "" for none. */
void timeline_recorder_open(const char *folder, uint64_t bytes_max);

void timeline_recorder_append(const struct timebase_lines *lines, uint64_t published_ticks,
                              bool is_disrupted);

/* On disk; 0 if there is none. */
uint64_t timeline_recorder_bytes(void);

/* Publications and attempts to open it that failed, since the daemon began. */
uint64_t timeline_recorder_failures(void);

/* The daemon ends, or the folder changes. */
void timeline_recorder_close(void);

#endif
