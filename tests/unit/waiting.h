/* SPDX-License-Identifier: MIT */
/*
 * waiting: a waiter of the real machine, events that say when they were called, and targets as
 * every function of wait.h takes them. After cmocka.h.
 */
#ifndef TEST_WAITING_H
#define TEST_WAITING_H

#include <sched.h>
#include <string.h>

#include <timebase.h>
#include <timebase/wait.h>

#define MICROSECOND INT64_C(1000)
#define MILLISECOND INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define YEAR (366 * 86400 * SECOND)
#define EVERY_FLAG 127u
#define EVERY_DISTURBANCE (2 * TIMEBASE_DISTURBED_SHARED - 1)

/*
 * A waiter that finds itself on another CPU learns everything anew. Tests that make up what it has
 * learnt stay where they are.
 */
static inline void stay_on_this_cpu(void)
{
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET((size_t)sched_getcpu(), &here);
    sched_setaffinity(0, sizeof(here), &here);
}

/* What an event saw. */
struct event {
    int calls, rehearsals;
    uint64_t ticks; /* at the call that was no rehearsal */
    void *argument;
};

static struct event event;

static inline void note_event(void *argument)
{
    if (timebase_wait_rehearsing()) {
        event.rehearsals++;
        return;
    }
    event.ticks = timebase_ticks_ordered();
    event.calls++;
    event.argument = argument;
}

/* Calibrated once. */
static inline struct timebase_waiter *the_waiter(void)
{
    static struct timebase_waiter waiter;
    static int is_ready;
    if (!is_ready)
        is_ready = timebase_waiter_init(&waiter, timebase_clock_default()) == 0;
    return &waiter;
}

static inline struct timebase_waiter_description description_of(struct timebase_waiter *waiter)
{
    struct timebase_waiter_description description;
    memset(&description, 0, sizeof(description));
    timebase_waiter_describe(waiter, &description);
    return description;
}

/* By the clock, over a second. */
static inline double ticks_per_ns(void)
{
    const timebase_clock *clock = timebase_clock_default();
    int64_t now = timebase_mono_ns(clock);
    return (double)(timebase_ticks_at_mono(clock, now + SECOND) -
                    timebase_ticks_at_mono(clock, now)) /
        1e9;
}

static inline int64_t ticks_of(int64_t ns)
{
    return (int64_t)((double)ns * ticks_per_ns());
}

/* The six ways to wait. */
enum way { UNTIL_TICKS, UNTIL_MONO, UNTIL_UTC, CALL_TICKS, CALL_MONO, CALL_UTC, WAYS };

static inline int calls_a_function(enum way way)
{
    return way >= CALL_TICKS;
}

/* `target` is a tick or an instant, as that way has it. */
static inline int wait_by(struct timebase_waiter *waiter, enum way way, int64_t target,
                          unsigned flags, struct timebase_wait_result *result)
{
    void (*f)(void *) = note_event;
    switch (way) {
    case UNTIL_TICKS:
        return timebase_wait_until_ticks(waiter, (uint64_t)target, flags, result);
    case UNTIL_MONO:
        return timebase_wait_until_mono(waiter, target, flags, result);
    case UNTIL_UTC:
        return timebase_wait_until_utc(waiter, target, flags, result);
    case CALL_TICKS:
        return timebase_wait_call_ticks(waiter, (uint64_t)target, flags, f, &event, result);
    case CALL_MONO:
        return timebase_wait_call_mono(waiter, target, flags, f, &event, result);
    default:
        return timebase_wait_call_utc(waiter, target, flags, f, &event, result);
    }
}

/* So many ns from now. */
static inline int64_t target_in(enum way way, int64_t ns)
{
    const timebase_clock *clock = timebase_clock_default();
    switch (way) {
    case UNTIL_TICKS:
    case CALL_TICKS:
        return (int64_t)(timebase_ticks() + (uint64_t)ticks_of(ns));
    case UNTIL_MONO:
    case CALL_MONO:
        return timebase_mono_ns(clock) + ns;
    default:
        return timebase_utc_ns(clock) + ns;
    }
}

static inline void forget_event(void)
{
    memset(&event, 0, sizeof(event));
}

#endif
