/* SPDX-License-Identifier: MIT */
#include "certain.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include <timebase/interval.h>

#define NS_PER_SEC 1000000000

int64_t wait_left_ns(int64_t until_ns, int64_t now_ns)
{
    int64_t left_ns;
    if (until_ns == INT64_MAX || __builtin_sub_overflow(until_ns, now_ns, &left_ns))
        return until_ns > now_ns ? INT64_MAX : 0;
    return left_ns > 0 ? left_ns : 0;
}

int64_t wait_nap_ns(int64_t left_ns, int64_t deadline_left_ns)
{
    int64_t nap_ns = left_ns / 2;
    if (nap_ns > deadline_left_ns)
        nap_ns = deadline_left_ns;
    if (nap_ns > WAIT_NAP_NS)
        nap_ns = WAIT_NAP_NS;
    return nap_ns < WAIT_POLL_NS / 2 ? 0 : nap_ns;
}

/* A signal's end of it is an early look, no more. */
static void rest(int64_t nap_ns)
{
    int saved_errno = errno;
    struct timespec nap = {(time_t)(nap_ns / NS_PER_SEC), (long)(nap_ns % NS_PER_SEC)};
    if (nap_ns == 0)
        timebase_arch_relax();
    else
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
    errno = saved_errno;
}

static bool is_promised(const struct timebase_instant *now)
{
    return (now->flags & TIMEBASE_LINE_STATUS_MASK) == TIMEBASE_STATUS_SYNCHRONIZED;
}

/* Nobody vouches for such a bound, whatever its status says, and no wait makes a promise of it. */
static bool is_estimate(const struct timebase_instant *now)
{
    return (now->flags & TIMEBASE_LINE_ESTIMATE) != 0;
}

/* The clock has neither lines nor a reference: on it no deadline ever passes. */
static bool is_timeless(const struct timebase_instant *now)
{
    uint32_t status = now->flags & TIMEBASE_LINE_STATUS_MASK;
    return status == TIMEBASE_STATUS_UNKNOWN && now->mono_ns == 0;
}

/* How long the wait still takes, by what is known now; 0: what was waited for is true. */
typedef int64_t left_function(const struct timebase_instant *now, uint64_t wanted);

static int wait_until(const timebase_clock *clock, left_function *left, uint64_t wanted,
                      int64_t deadline_mono_ns, struct timebase_instant *now)
{
    if (clock == NULL)
        return TIMEBASE_E_INVALID;
    for (;;) {
        timebase_now(clock, now);
        if (is_estimate(now))
            return TIMEBASE_E_ESTIMATE;
        int64_t left_ns = is_promised(now) ? left(now, wanted) : WAIT_NAP_NS;
        int64_t deadline_left_ns = wait_left_ns(deadline_mono_ns, now->mono_ns);
        if (left_ns == 0)
            return TIMEBASE_OK;
        if (is_timeless(now) && deadline_mono_ns != TIMEBASE_NO_DEADLINE)
            return TIMEBASE_E_STALE;
        if (deadline_left_ns == 0)
            return is_promised(now) ? TIMEBASE_E_TIMEOUT : TIMEBASE_E_STALE;
        rest(wait_nap_ns(left_ns, deadline_left_ns));
    }
}

/* Nobody knows when a better sample will come. */
static int64_t left_of_bound(const struct timebase_instant *now, uint64_t maxerror_ns)
{
    return now->utc_maxerror_ns <= maxerror_ns ? 0 : WAIT_NAP_NS;
}

static int64_t left_of_time(const struct timebase_instant *now, uint64_t utc_ns)
{
    struct timebase_interval utc = timebase_interval_around(now->utc_ns, now->utc_maxerror_ns);
    if (utc.earliest_ns > (int64_t)utc_ns)
        return 0;
    int64_t left_ns = wait_left_ns((int64_t)utc_ns, utc.earliest_ns);
    return left_ns > 0 ? left_ns : 1;
}

TIMEBASE_API int timebase_clock_wait_bound(const timebase_clock *clock, uint64_t maxerror_ns,
                                           int64_t deadline_mono_ns, struct timebase_interval *out)
{
    struct timebase_instant now;
    int error = wait_until(clock, left_of_bound, maxerror_ns, deadline_mono_ns, &now);
    if (out != NULL && error != TIMEBASE_E_INVALID)
        *out = timebase_interval_around(now.utc_ns, now.utc_maxerror_ns);
    return error;
}

TIMEBASE_API int timebase_clock_wait_after(const timebase_clock *clock, int64_t utc_ns,
                                           int64_t deadline_mono_ns)
{
    struct timebase_instant now;
    return wait_until(clock, left_of_time, (uint64_t)utc_ns, deadline_mono_ns, &now);
}
