/* SPDX-License-Identifier: MIT */
/*
 * history: keeps the timeline for the daemon. The clock goes on without disk space: a failure is
 * logged once, and writing is tried again.
 */
#ifndef DAEMON_HISTORY_H
#define DAEMON_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

/* Begin or go on in this folder; "" for none. */
void history_open(const char *folder, uint64_t bytes_max);

void history_append(const struct timebase_lines *lines, uint64_t published_ticks,
                    bool is_disrupted);

/* On disk; 0 if there is none. */
uint64_t history_bytes(void);

/* Publications and attempts to open it that failed, since the daemon began. */
uint64_t history_failures(void);

/* The daemon ends, or the folder changes. */
void history_close(void);

#endif
