/* SPDX-License-Identifier: MIT */
/*
 * log: lines to standard error, where journald reads them. A line tells an event and its numbers. A
 * publication that went well is not logged.
 */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

#include <stddef.h>

/* With syslog's numbers, which journald takes from "<4>" at a line's start. */
enum log_level {
    LOG_ERROR = 3,
    LOG_WARNING = 4,
    LOG_INFO = 6,
    LOG_DEBUG = 7,
};

/* The level of this name, which need not end after length; -1: there is none. */
int log_level_named(const char *name, size_t length);

/* "?" if no level has this number. */
const char *log_level_name(int level);

/* Lines above this level are left out. */
void log_set_level(int level);

/* One line, cut at 1,000 characters; control characters in it become "?". */
__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);

#endif
