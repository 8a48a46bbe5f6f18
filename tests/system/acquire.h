/* SPDX-License-Identifier: MIT */
/* acquire: requests in a child, and what holds of every one of them. */
#ifndef TEST_ACQUIRE_H
#define TEST_ACQUIRE_H

#include <errno.h>

#include <timebase/realtime.h>

#include "child.h"
#include "settings.h"

static inline struct timebase_realtime acquire(uint32_t wanted)
{
    struct timebase_realtime rt;
    struct timebase_realtime_request request = {wanted, 10, -1};
    errno = 4321;
    int result = timebase_realtime_acquire(&rt, &request);
    EXPECT(errno == 4321);
    EXPECT(result == (rt.refused != 0));
    return rt;
}

static inline void release(struct timebase_realtime *rt)
{
    errno = 4321;
    EXPECT(timebase_realtime_release(rt) == TIMEBASE_OK);
    EXPECT(errno == 4321);
    EXPECT(rt->granted == 0);
}

/* Unprivileged threads cannot take SCHED_RESET_ON_FORK off again. */
static inline void mark(int flag)
{
    struct sched_param parameter = {0};
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    EXPECT(sched_getparam(0, &parameter) == 0);
    if (sched_setscheduler(0, policy | flag, &parameter) != 0)
        _exit(1);
}

static inline void mark_and_unmark(void)
{
    mark(SCHED_RESET_ON_FORK);
    mark(0);
}

/* They begin with it: what was there before can be given back. */
static inline struct settings begin(void)
{
    if (child_run(mark_and_unmark) != 0)
        mark(SCHED_RESET_ON_FORK);
    return settings_now();
}

#endif
