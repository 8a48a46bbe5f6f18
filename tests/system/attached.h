/* SPDX-License-Identifier: MIT */
/*
 * attached: a process that is attached to a page, and somebody who writes it. Whatever becomes of
 * either, time goes on, never back, and within its bound.
 */
#ifndef TEST_ATTACHED_H
#define TEST_ATTACHED_H

#include <sys/prctl.h>

#include "child.h"
#include "page_writer.h"

#define MS 1000000
#define SECOND 1000000000LL

/* A thread that is held up is told the time only when the lines have come so far: again, then. */
#define ATTEMPTS 20

#define A_PAGE(test) cmocka_unit_test_setup_teardown(test, begin, end)

static struct page_writer writer;
static timebase_clock *shared;

/* Every inline reader and conversion; monotonic time rises and lies within its bound. */
static inline void read_for(int64_t ns)
{
    static int64_t last_ns; /* of this process */
    int64_t end_ns = kernel_now(CLOCK_MONOTONIC) + ns;
    struct timebase_interval when;
    struct timebase_instant now;
    for (int64_t before_ns; (before_ns = kernel_now(CLOCK_MONOTONIC)) < end_ns;) {
        timebase_now(shared, &now);
        int64_t error_ns = (int64_t)now.maxerror_ns, after_ns = kernel_now(CLOCK_MONOTONIC);
        assert_true(before_ns - error_ns <= now.mono_ns && now.mono_ns <= after_ns + error_ns);
        assert_true(now.mono_ns >= last_ns);
        last_ns = timebase_mono_ns(shared);
        assert_true(last_ns >= now.mono_ns);
        assert_true(timebase_utc_interval(shared, &when) >= 0 && when.earliest_ns < when.latest_ns);
        assert_true(timebase_realtime_interval(shared, &when) >= 0);
        timebase_utc_ns(shared);
        timebase_tai_ns_unordered(shared);
        timebase_at(shared, now.ticks, &now);
        timebase_ticks_at_mono(shared, last_ns);
    }
}

static inline struct timebase_attachment attachment(void)
{
    struct timebase_attachment attachment;
    assert_int_equal(timebase_clock_attachment(shared, &attachment), 0);
    return attachment;
}

static inline int status(void)
{
    struct timebase_instant now;
    timebase_now(shared, &now);
    return (int)(now.flags & TIMEBASE_LINE_STATUS_MASK);
}

static inline int begin(void **state)
{
    (void)state;
    writer = writer_new();
    return timebase_clock_attach(&shared, writer.path);
}

static inline int end(void **state)
{
    (void)state;
    timebase_clock_detach(shared);
    writer_remove(&writer);
    return 0;
}

/* In a child: publish until killed, or until the parent has died. */
static inline pid_t start_writing(void (*how)(void))
{
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent) { /* it may have died before the call */
        how();
        usleep(1000);
    }
    _exit(0);
}

static inline void stop(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static inline void publish_once(void)
{
    writer_publish(&writer);
}

#endif
