/* SPDX-License-Identifier: MIT */
/*
 * overlap: finds whether two units ever claim the same time, and where first. Exact, for any counts
 * and periods, without running through the pattern.
 */
#ifndef CALENDAR_OVERLAP_H
#define CALENDAR_OVERLAP_H

#include "pattern.h"

/*
 * A release claims [ready, ready + wcet). True if a claim of `a` and a claim of `b` have a ns
 * in common; *at_ns is then where the first such pair meets: the later of its two ready times.
 * `a` must not overlap itself (wcet <= period, or one release).
 */
bool overlap_first(const struct pattern *a, const struct pattern *b, int64_t *at_ns);

#endif
