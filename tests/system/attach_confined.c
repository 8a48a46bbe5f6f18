/* SPDX-License-Identifier: MIT */
/* Attached in a time namespace, on a read-only file system, and in a sandbox that refuses files. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>

#include "page_writer.h"
#include "sandbox.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define MS 1000000
#define HOUR_NS 3600000000000

static struct page_writer writer;

static void read_for(const timebase_clock *clock, int64_t ns)
{
    int64_t last_ns = timebase_mono_ns(clock), end_ns = last_ns + ns;
    while (last_ns < end_ns) {
        int64_t now_ns = timebase_mono_ns(clock);
        EXPECT(now_ns >= last_ns);
        last_ns = now_ns;
    }
}

static void expect_utc(const timebase_clock *clock)
{
    struct timebase_interval when;
    int64_t before_ns = kernel_now(CLOCK_REALTIME);
    timebase_realtime_interval(clock, &when);
    EXPECT(when.earliest_ns <= kernel_now(CLOCK_REALTIME) && before_ns <= when.latest_ns);
}

static int64_t outside_ns;

/* An hour later by its own monotonic clock: the page's is that of its writer. UTC is one for all.
 */
static void attach_inside(void)
{
    timebase_clock *clock;
    struct timebase_attachment attachment;
    if (kernel_now(CLOCK_MONOTONIC) < outside_ns + HOUR_NS)
        child_skip("the time namespace has no effect here");
    writer_publish(&writer);
    EXPECT(timebase_clock_attach(&clock, writer.path) == 0);
    EXPECT(timebase_clock_attachment(clock, &attachment) == 0);
    EXPECT(attachment.mono_offset_ns == HOUR_NS);
    expect_utc(clock);
    int64_t mono_ns = timebase_mono_ns(clock); /* before the look at the kernel's clock */
    EXPECT(mono_ns < kernel_now(CLOCK_MONOTONIC) - HOUR_NS + 100 * MS);
    timebase_clock_detach(clock);
}

/* All lines so much later by monotonic time, and the same by UTC. */
static void expect_stale_when_moved(int64_t ns)
{
    timebase_clock *clock;
    writer_move(&writer, ns);
    for (int i = 0; i < 3; i++)
        writer.line[i].utc_offset_ns -= ns;
    publish_clear(writer.page);
    writer_publish(&writer);
    EXPECT(timebase_clock_attach(&clock, writer.path) == TIMEBASE_E_STALE);
}

/*
 * What no namespace explains is another machine's or boot's, even where the namespace's hour brings
 * it nearer. Only later: before its boot a machine has no monotonic time, and no page may show one.
 */
static void refuse_inside(void)
{
    expect_stale_when_moved(HOUR_NS / 3);
    expect_stale_when_moved(2 * HOUR_NS);
}

/* Monotonic time half the range away: less the namespace's hour, no longer a number of 64 bits. */
static void refuse_half_the_range(void)
{
    const int64_t half_hour_ns = HOUR_NS / 2;
    timebase_clock *clock;
    struct timebase_instant now;
    struct segment far = writer.line[2];
    int64_t begun_ns = kernel_now(CLOCK_MONOTONIC) - half_hour_ns;
    far.value = fixed_from_ns(INT64_MAX);
    far.start_ticks =
        timebase_ticks_ordered() - fixed_ticks(writer.period, MS) * (uint64_t)(begun_ns / MS);
    far.utc_offset_ns = 0;
    for (int round = 0; round < 2; round++) {
        struct timebase_line line = writer_line(&writer, &far);
        struct timebase_lines lines = {line, line, line, NEVER_EXPIRES};
        publish_lines(writer.page, &lines, 0);
        EXPECT(timebase_page_convert(writer.page, timebase_ticks_ordered(), &now));
        far.utc_offset_ns = (int64_t)((uint64_t)kernel_now(CLOCK_REALTIME) - (uint64_t)now.mono_ns);
    }
    EXPECT(timebase_clock_attach(&clock, writer.path) == TIMEBASE_E_STALE);
}

/* Where the counter is the system's clock, its ticks are another namespace's as well. */
static void make_namespace(const char *offsets)
{
    if (timebase_counter_id() == TIMEBASE_COUNTER_OS)
        child_skip("this processor has no counter of its own");
    if (unshare(CLONE_NEWTIME) != 0)
        child_skip("a time namespace is not permitted");
    int file = open("/proc/self/timens_offsets", O_WRONLY);
    if (file < 0)
        child_skip("this kernel has no time namespaces");
    if (write(file, offsets, strlen(offsets)) != (ssize_t)strlen(offsets))
        child_skip("the offsets of a time namespace cannot be set");
    close(file);
    outside_ns = kernel_now(CLOCK_MONOTONIC);
}

static void live_in_namespace(void)
{
    make_namespace("monotonic 3600 0\nboottime 3600 0\n");
    int result = child_run(attach_inside);
    if (result == 0)
        result = child_run(refuse_inside);
    _exit(result != 0 ? result : child_run(refuse_half_the_range));
}

static void attach_a_little_inside(void)
{
    timebase_clock *clock;
    struct timebase_attachment attachment;
    writer_publish(&writer);
    EXPECT(timebase_clock_attach(&clock, writer.path) == 0);
    EXPECT(timebase_clock_attachment(clock, &attachment) == 0);
    EXPECT(attachment.mono_offset_ns == 50 * MS);
    timebase_clock_detach(clock);
}

/* Less than a writer may be behind a step, and more than the page's bound. */
static void live_in_a_near_namespace(void)
{
    make_namespace("monotonic 0 50000000\n");
    _exit(child_run(attach_a_little_inside));
}

static void a_small_offset_of_a_namespace_is_told_too(void **state)
{
    (void)state;
    child_must_pass(live_in_a_near_namespace);
}

static void a_time_namespace_is_told_and_utc_the_same(void **state)
{
    (void)state;
    child_must_pass(live_in_namespace);
}

/* As a container gets /run/timebase. The mounts are this child's alone. */
static void live_on_read_only_mount(void)
{
    timebase_clock *clock;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        child_skip("mounts of one's own are not permitted");
    EXPECT(mount(writer.folder, writer.folder, NULL, MS_BIND, NULL) == 0);
    EXPECT(mount(NULL, writer.folder, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0);
    EXPECT(open(writer.path, O_RDWR) < 0 && errno == EROFS);
    EXPECT(timebase_clock_attach(&clock, writer.path) == 0);
    writer_publish(&writer); /* through the writer's own mount */
    read_for(clock, 60 * MS);
    expect_utc(clock);
    timebase_clock_detach(clock);
}

static void a_read_only_mount_is_enough(void **state)
{
    (void)state;
    child_must_pass(live_on_read_only_mount);
}

static void enter_sandbox(void)
{
    const int calls[] = {SYS_pread64, SYS_preadv /* of processors with 32 bits */, SYS_openat, -1};
    sandbox_refuse(calls, EPERM);
}

static void live_in_sandbox(void)
{
    timebase_clock *clock, *another;
    struct timebase_attachment attachment;
    EXPECT(timebase_clock_attach(&clock, writer.path) == 0);
    enter_sandbox();
    read_for(clock, 60 * MS);
    expect_utc(clock);
    EXPECT(timebase_clock_attachment(clock, &attachment) == 0);
    EXPECT(attachment.error == TIMEBASE_E_PERMISSION);
    EXPECT(timebase_clock_attach(&another, writer.path) == TIMEBASE_E_PERMISSION);
    timebase_clock_detach(clock);
}

static void a_sandbox_leaves_the_lines_that_there_are(void **state)
{
    (void)state;
    child_must_pass(live_in_sandbox);
}

/* Ticks of another counter mean nothing on the page. */
static void select_another_counter(void)
{
    timebase_clock *clock;
    EXPECT(timebase_counter_select(TIMEBASE_COUNTER_OS) == 0);
    EXPECT(timebase_clock_attach(&clock, writer.path) == TIMEBASE_E_UNSUPPORTED);
}

static void who_reads_another_counter_is_refused(void **state)
{
    (void)state;
    if (timebase_counter_id() == TIMEBASE_COUNTER_OS)
        skip_because("there is no other counter here");
    child_must_pass(select_another_counter);
}

static int begin(void **state)
{
    (void)state;
    writer = writer_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    writer_remove(&writer);
    return 0;
}

int main(void)
{
#define A_PAGE(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        A_PAGE(a_time_namespace_is_told_and_utc_the_same),
        A_PAGE(a_small_offset_of_a_namespace_is_told_too),
        A_PAGE(a_read_only_mount_is_enough),
        A_PAGE(a_sandbox_leaves_the_lines_that_there_are),
        A_PAGE(who_reads_another_counter_is_refused),
    };
    return run_all(tests);
}
