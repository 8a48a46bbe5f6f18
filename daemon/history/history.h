/* SPDX-License-Identifier: MIT */
/*
 * history: the timeline, as far as the daemon has to do with it. A clock does not stop for want of
 * disk space: what fails is told once, and tried again.
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
