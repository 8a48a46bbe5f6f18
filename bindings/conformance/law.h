/* SPDX-License-Identifier: MIT */
/*
 * law: what a page of the live writer says, number by number. A reader that knows it sees from one
 * reading alone whether all its words came from one publication.
 *
 * The writer leaves t0, a tick, in the page's disruption_marker (offset 32) before it publishes.
 * All is said of ticks t from t0 on, d = t - t0 < 2^42 (300 s of any counter). Publication n, n =
 * 2, 3, 4, ..., says of t, in whole numbers:
 *
 *     mono_ns         2^28 n + d + ((d * (n % 128 + 1)) >> 24)     if n is odd
 *                     2^28 n + d - ((d * (n % 128 + 1) + 2^24 - 1) >> 24)   if n is even
 *     utc_ns          mono_ns + n
 *     maxerror_ns     2^20 + 3 n + ((d * (n % 1024)) >> 24) + ((d * ((n + 512) % 1024)) >> 24)
 *     utc_maxerror_ns 2^32 + 7 n + ((d * (n % 1024)) >> 24)
 *     esterror_ns     2^20 + 5 n + ((d * ((n + 256) % 1024)) >> 24)
 *     flags           (n % 2^16) << 16 | TAI_VALID | SYNCHRONIZED
 *
 * So n = utc_ns - mono_ns, and with it the reader works out the other five. No product is beyond
 * 2^52: 64 bits do.
 *
 *     torn        anything differs from the law, n = utc_ns - mono_ns
 *     backwards   n is less than that of an earlier reading; or mono_ns is, of two readings of now
 *                 (2^28 is more than two neighbouring laws ever differ, so time goes forward)
 *
 * The three lines of a publication begin at different ticks, which change with n: t is on `after`
 * if n % 3 = 0, on `slew` if it is 1, on `before` if it is 2. All say the same. Each word of a line
 * changes from one publication to the next, and so does each of the validity; so a word of another
 * publication shows.
 */
#ifndef CONFORMANCE_LAW_H
#define CONFORMANCE_LAW_H

#include <stdint.h>

#include <timebase/page.h>

#define LAW_FIRST 2
#define LAW_SECONDS 300              /* d stays below 2^42 */
#define LAW_LAST ((uint64_t)1 << 34) /* mono_ns stays below 2^63 */

/* The lines of publication n, for a writer that began at t0. */
void law_lines(uint64_t n, uint64_t t0, struct timebase_lines *out);

/* What they say of t0 + d: everything but the ticks. */
void law_instant(uint64_t n, uint64_t d, struct timebase_instant *out);

#endif
