/* SPDX-License-Identifier: MIT */
/*
 * leap: a leap second that has been announced, until UTC's offset has made it.
 *
 * At its moment CLOCK_REALTIME goes back by a second, or skips one. Lines that were published
 * before do not know of it: from then until the next sample their UTC is a second off. So lines
 * that are followed that far have the second in their bound. The reference's own UTC tells the
 * moment:
 *
 *     insert   at the end of the day, 00:00:00 is called 23:59:59 once more: the offset falls
 *     delete   at 23:59:59, which is called 00:00:00: the offset rises
 *
 * True UTC leaps earlier or later than the reference by as much as the reference is wrong. So the
 * second is in the bound for that long before and after, too; and for a second more after it, in
 * which what tells of true UTC may be late with its own leap.
 *
 * Pure.
 */
#ifndef DISCIPLINE_LEAP_H
#define DISCIPLINE_LEAP_H

#include <stdbool.h>
#include <stdint.h>

/* The size of it. */
#define LEAP_NS 1000000000

struct leap {
    int64_t step_ns;        /* what UTC's offset changes by: -LEAP_NS, LEAP_NS; 0: none pending */
    int64_t at_ns;          /* UTC, as counted before the step, at which it is due */
    int64_t maxerror_ns;    /* |reference - true UTC| at the newest sample */
    bool has_stepped;       /* the offset has, true UTC perhaps not */
    int64_t quiet_until_ns; /* the same announcement may be repeated until then */
};

/* What a sample says of it. */
struct leap_sample {
    int64_t utc_ns;      /* the reference's UTC */
    int64_t maxerror_ns; /* and how wrong that can be */
    int64_t stepped_ns;  /* how far its offset was stepped since the sample before */
    uint32_t flags;      /* TIMEBASE_LINE_LEAP_... */
};

/* Is that step the announced second, to within so much? */
bool leap_is_made(const struct leap *leap, const struct leap_sample *sample, int64_t within_ns);

void leap_observe(struct leap *leap, const struct leap_sample *sample);

/* The error by the leap of a line that readers follow until utc_ns, as the line counts it. */
uint64_t leap_error_ns(const struct leap *leap, int64_t utc_ns);

#endif
