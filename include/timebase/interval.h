/* SPDX-License-Identifier: MIT */
/*
 * Intervals of time: what can be said of two events when neither time is exact, and waiting until
 * more can be said.
 *
 *     struct timebase_interval a, b;
 *     timebase_utc_interval(clock, &a);              // one event, here
 *     ...                                            // another, on another machine: b
 *     if (timebase_interval_before(&a, &b))
 *         ... a was first, whatever the clocks' errors ...
 *
 * Commit-wait. A program that tells of an event only when the event is certainly past may number
 * events by their times: any program that hears of it and then reads a clock gets a later time.
 *
 *     timebase_utc_interval(clock, &now);
 *     int64_t commit_ns = now.latest_ns;
 *     ...                                            // do the work meanwhile
 *     if (timebase_clock_wait_after(clock, commit_ns, TIMEBASE_NO_DEADLINE) == 0)
 *         ... publish it as of commit_ns ...
 *
 * docs/guide/order.md has this in full, and a hybrid logical clock. Both ends of an interval belong
 * to it. An interval that ends before it begins is empty: it is before, after and within nothing.
 * Widths and sums saturate; nothing wraps.
 */
#ifndef TIMEBASE_INTERVAL_H
#define TIMEBASE_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/attributes.h>
#include <timebase/clock.h>

TIMEBASE_EXTERN_BEGIN

/* For the waits below. */
#define TIMEBASE_NO_DEADLINE INT64_MAX

TIMEBASE_PART bool timebase_interval_is_empty(const struct timebase_interval *a)
{
    return a->latest_ns < a->earliest_ns;
}

/*
 * Is every moment of a before every moment of b? Then event a came before event b. These functions
 * know no status: they say what follows if both intervals hold. The intervals of a clock hold if it
 * was SYNCHRONIZED and timebase_now() did not flag ESTIMATE.
 */
TIMEBASE_INLINE bool timebase_interval_before(const struct timebase_interval *a,
                                              const struct timebase_interval *b)
{
    return !timebase_interval_is_empty(a) && !timebase_interval_is_empty(b) &&
        a->latest_ns < b->earliest_ns;
}

/* Have they a moment in common? Then nobody can say which event came first. */
TIMEBASE_INLINE bool timebase_interval_overlaps(const struct timebase_interval *a,
                                                const struct timebase_interval *b)
{
    return !timebase_interval_is_empty(a) && !timebase_interval_is_empty(b) &&
        a->latest_ns >= b->earliest_ns && b->latest_ns >= a->earliest_ns;
}

TIMEBASE_INLINE bool timebase_interval_contains(const struct timebase_interval *a, int64_t ns)
{
    return a->earliest_ns <= ns && ns <= a->latest_ns;
}

/* Twice the bound: exact for all intervals, up to 2^64 - 1; 0 if empty. */
TIMEBASE_INLINE uint64_t timebase_interval_width_ns(const struct timebase_interval *a)
{
    return timebase_interval_is_empty(a) ? 0 : (uint64_t)a->latest_ns - (uint64_t)a->earliest_ns;
}

/*
 * What two intervals of the same moment, of two clocks for example, have in common. False if they
 * have nothing in common, so that one of them is wrong; *out is then empty. out may be a or b.
 */
TIMEBASE_INLINE bool timebase_interval_intersect(const struct timebase_interval *a,
                                                 const struct timebase_interval *b,
                                                 struct timebase_interval *out)
{
    struct timebase_interval both;
    both.earliest_ns = a->earliest_ns > b->earliest_ns ? a->earliest_ns : b->earliest_ns;
    both.latest_ns = a->latest_ns < b->latest_ns ? a->latest_ns : b->latest_ns;
    *out = both;
    return !timebase_interval_is_empty(&both);
}

/*
 * Both waits sleep, look at the clock more often as the end comes nearer, and poll for the last 50
 * µs. They work with any clock handle, however slow its counter. A signal does not end them.
 * deadline_mono_ns is on the clock's monotonic time; with TIMEBASE_NO_DEADLINE, or one far ahead,
 * they wait as long as it takes. If the deadline has passed, they look once. Not for signal
 * handlers.
 */

/*
 * Wait until the clock's bound of true UTC is at most maxerror_ns, and a promise: the status is
 * SYNCHRONIZED, and the bound is not flagged ESTIMATE. *out (it may be null) is the interval that
 * was last seen. Returns 0;
 *     TIMEBASE_E_TIMEOUT   the deadline passed with a wider bound
 *     TIMEBASE_E_STALE     the deadline passed, and the clock promised nothing; or there is a
 *                          deadline, and the clock has no time at all by which it could pass
 *     TIMEBASE_E_ESTIMATE  at once: the bound is an estimate. The process' own clock never has a
 *                          better one, for only the kernel tells it: attach to a daemon's page
 *     TIMEBASE_E_INVALID   clock is null
 */
TIMEBASE_API int timebase_clock_wait_bound(const timebase_clock *clock, uint64_t maxerror_ns,
                                           int64_t deadline_mono_ns, struct timebase_interval *out);

/*
 * Wait until true UTC is certainly later than utc_ns: even its earliest possible value is. Only a
 * SYNCHRONIZED clock whose bound is no ESTIMATE can say so. Returns as above.
 */
TIMEBASE_API int timebase_clock_wait_after(const timebase_clock *clock, int64_t utc_ns,
                                           int64_t deadline_mono_ns);

TIMEBASE_EXTERN_END

#endif
