/* SPDX-License-Identifier: MIT */
/*
 * virtual_page: an attached clock in virtual time: counter and kernel's clocks are the test's, and the
 * page is written as a daemon would.
 */
#ifndef TEST_VIRTUAL_PAGE_H
#define TEST_VIRTUAL_PAGE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <timebase.h>

#include "../unit/held_lock.h"
#include "clock/attach/mirror.h"
#include "clock/page/publish.h"

#define MS 1000000LL
#define SECOND 1000000000LL
#define PERIOD (250 * MS) /* of publications */
#define UTC0 1700000000000000000LL

/* A tick is a nanosecond. Each look takes some. */
static uint64_t counter;
static int64_t mono_ns, utc_ns;

static inline void pass(int64_t ns)
{
    counter += (uint64_t)ns;
    mono_ns += ns;
    utc_ns += ns;
}

int64_t __wrap_counter_clock_ns(clockid_t id);
uint64_t __wrap_timebase_ticks_probe(void);
uint64_t __wrap_timebase_ticks_ordered_probe(void);

int64_t __wrap_counter_clock_ns(clockid_t id)
{
    pass(25);
    return id == CLOCK_REALTIME ? utc_ns : mono_ns;
}

uint64_t __wrap_timebase_ticks_ordered_probe(void)
{
    pass(10);
    return counter;
}

uint64_t __wrap_timebase_ticks_probe(void)
{
    return __wrap_timebase_ticks_ordered_probe();
}

static char folder[] = "/tmp/timebase-slept-XXXXXX";
static char path[64];
static struct timebase_page page;
static timebase_clock *shared;

static uint32_t flags = TIMEBASE_STATUS_SYNCHRONIZED;

/* Right lines, as of the kernel's clocks now. */
static inline void publish_now(void)
{
    struct timebase_line line = {.start_ticks = counter,
                                 .mono_ns = (uint64_t)mono_ns,
                                 .utc_ns = (uint64_t)utc_ns,
                                 .period_ns = 1,
                                 .flags = flags,
                                 .maxerror_ns = 1000,
                                 .drift_rate = 50 << 12,
                                 .slew_rate = 500 << 12,
                                 .utc_maxerror_ns = 1000};
    /* A tick is a nanosecond. */
    struct timebase_validity validity = {.silent_ticks = PERIOD + TIMEBASE_PAGE_SILENT_NS,
                                         .void_ticks = PERIOD + TIMEBASE_PAGE_EXPIRED_NS};
    struct timebase_lines lines = {line, line, line, validity};
    publish_lines(&page, &lines, PERIOD);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(pwrite(fd, &page, sizeof(page), 0), sizeof(page));
    fchmod(fd, 0644);
    close(fd);
}

static int64_t last_ns;

/* Never back; and with a promise never further off than it says. */
static inline struct timebase_instant look(void)
{
    struct timebase_instant now;
    timebase_now(shared, &now);
    int status = (int)(now.flags & TIMEBASE_LINE_STATUS_MASK);
    int64_t mono_off = llabs(now.mono_ns - mono_ns), utc_off = llabs(now.utc_ns - utc_ns);
    assert_true(now.mono_ns >= last_ns);
    last_ns = now.mono_ns;
    if (status == TIMEBASE_STATUS_SYNCHRONIZED) {
        assert_true(mono_off <= (int64_t)now.maxerror_ns + 1000);
        assert_true(utc_off <= (int64_t)now.utc_maxerror_ns + 1000);
    }
    return now;
}

static inline int status_of(const struct timebase_instant *now)
{
    return (int)(now->flags & TIMEBASE_LINE_STATUS_MASK);
}

static inline void live_for(int64_t ns, bool is_published)
{
    int64_t end_ns = mono_ns + ns;
    for (int round = 0; mono_ns < end_ns; round++) {
        if (is_published && round % 250 == 0)
            publish_now();
        pass(MS);
        look();
    }
}

static inline int begin(void **state)
{
    static const struct timebase_page fresh;
    (void)state;
    counter = 5000 * (uint64_t)SECOND;
    mono_ns = 5000 * SECOND;
    utc_ns = UTC0;
    last_ns = 0;
    page = fresh;
    timebase_counter_select(TIMEBASE_COUNTER_OS);
    publish_begin(&page, TIMEBASE_COUNTER_OS);
    publish_now();
    pass(MS);
    int error = timebase_clock_attach(&shared, path);
    live_for(SECOND, true);
    return error;
}

static inline int end(void **state)
{
    (void)state;
    timebase_clock_detach(shared);
    unlink(path);
    return 0;
}

#define SLEEP (10 * SECOND)

/* s2idle: the counter goes on, monotonic time does not. */
static inline void sleep_for(int64_t ns)
{
    counter += (uint64_t)ns;
    utc_ns += ns;
}

/* Tests that begin() and end() by themselves. */
#define ASLEEP(test) cmocka_unit_test_setup_teardown(test, begin, end)
#define run_in_folder(tests)                                                                       \
    (mkdtemp(folder) == NULL ||                                                                    \
     snprintf(path, sizeof(path), "%s/page", folder) < 0 ||                                        \
     cmocka_run_group_tests(tests, NULL, NULL) != 0 || rmdir(folder) != 0)

#endif
