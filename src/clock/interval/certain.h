/* SPDX-License-Identifier: MIT */
/*
 * certain: how long to sleep before the next look at a clock whose bound may shrink meanwhile.
 * Pure.
 */
#ifndef INTERVAL_WAIT_H
#define INTERVAL_WAIT_H

#include <stdint.h>

/* Nearer than this it is not worth while to sleep: waking up takes as long. */
#define WAIT_POLL_NS 50000
/* A bound shrinks when a sample comes; looked at no less often than this. */
#define WAIT_NAP_NS 16000000

/*
 * The time left to wait, ns. A negative difference counts as 0, and a difference that overflows as
 * the longest time. INT64_MAX in `until` means "no deadline".
 */
int64_t wait_left_ns(int64_t until_ns, int64_t now_ns);

/*
 * Half of what is left, so that the wait does not oversleep an end that is nearer than it seemed;
 * 0: poll. left_ns by the clock, to the end and to the deadline.
 */
int64_t wait_nap_ns(int64_t left_ns, int64_t deadline_left_ns);

#endif
