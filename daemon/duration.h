/* SPDX-License-Identifier: MIT */
/*
 * duration: nanoseconds as a person reads them in a line of the log. Metrics and pages have numbers.
 */
#ifndef DAEMON_DURATION_H
#define DAEMON_DURATION_H

#include <stdint.h>

struct duration {
    char text[24];
};

/* "31 ns", "1.6 us", "134 us", "16.1 s": at least two digits, and never less than it is, for most are
 * bounds. Give it to printf as duration_of(ns).text. */
struct duration duration_of(int64_t ns);
struct duration duration_of_bound(uint64_t ns);

#endif
