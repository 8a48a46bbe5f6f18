/* SPDX-License-Identifier: MIT */
/* What may become of a page's lines and of their writers while a process is attached to it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>

#include "attached.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/*
 * Lines that are due, and far from the kernel's clocks, are not believed. Where that is not meant
 * they are good for seconds, or a process that is held up for 100 ms would find them so.
 */
#define NOT_DUE_LINES 1000

static void insane_lines_are_not_followed(void **state)
{
    (void)state;
    uint64_t seq = attachment().seq;
    writer_publish(&writer);
    writer.page->copy[writer.page->seq & 1].after.period_ns = 5000;
    assert_int_equal(attachment().error, TIMEBASE_E_FORMAT);
    assert_int_equal(attachment().seq, seq);
    read_for(10 * MS);
    writer_publish(&writer);
    assert_int_equal(attachment().error, 0);
}

static void a_number_that_fell_is_another_writers(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        writer_publish(&writer);
    assert_true(attachment().seq > 5);
    publish_clear(writer.page);
    assert_int_equal(attachment().error, TIMEBASE_E_STALE);
    writer_publish(&writer);
    assert_int_equal(attachment().error, 0);
    assert_int_equal(attachment().seq, 1);
    read_for(10 * MS);
}

/* The moved writer's lines are wrong by so much; they say so. */
static void follow_lines_moved_by(int64_t ns)
{
    struct timebase_instant now;
    timebase_now(shared, &now);
    writer_move(&writer, ns);
    writer_publish(&writer);
    int64_t end_ns = kernel_now(CLOCK_MONOTONIC) + 100 * MS;
    for (int64_t last_ns = now.mono_ns; last_ns < end_ns; last_ns = now.mono_ns) {
        timebase_now(shared, &now);
        assert_true(now.mono_ns >= last_ns);
    }
}

static void lines_that_lie_lower_are_joined_without_a_step_back(void **state)
{
    (void)state;
    for (int i = 0; i < ATTEMPTS && attachment().joins == 0; i++)
        follow_lines_moved_by(-10 * MS);
    assert_true(attachment().joins > 0);
}

static int64_t ahead_of_writer_ns(struct timebase_instant *now, struct timebase_instant *other)
{
    timebase_now(shared, now);
    timebase_page_convert(writer.page, now->ticks, other);
    return now->mono_ns - other->mono_ns;
}

/* A line with a bend makes good in 125 ms and more what it lacks. */
static void publish_straight_lines(void)
{
    struct timebase_instant now, other;
    writer.most_bend = 0;
    writer.refresh_lines = NOT_DUE_LINES;
    writer_begin_lines(&writer);
    writer_publish(&writer);
    for (int i = 0; i < ATTEMPTS && ahead_of_writer_ns(&now, &other) != 0; i++)
        read_for(50 * MS);
    assert_int_equal(now.mono_ns, other.mono_ns);
}

/* 50 µs at 500 ppm take 100 ms. */
static void a_small_difference_is_slewed_and_in_the_bound(void **state)
{
    struct timebase_instant now, other;
    struct clock_hold hold;
    (void)state;
    publish_straight_lines();
    uint64_t joins = attachment().joins;
    /* Followed up to the renewal, lest a delay make good what the lines lack. */
    assert_true(cell_try_lock(cell_of(shared), &hold));
    usleep(30000);
    timebase_now(shared, &now);
    writer_move(&writer, -50000);
    writer_publish(&writer);
    cell_unlock(cell_of(shared), &hold);
    timebase_now(shared, &now);
    assert_true(attachment().joins > joins);
    int64_t ahead_ns = ahead_of_writer_ns(&now, &other);
    assert_true(ahead_ns >= 0);
    assert_true(now.maxerror_ns >= other.maxerror_ns + (uint64_t)ahead_ns);
    for (int i = 0; i < ATTEMPTS && ahead_of_writer_ns(&now, &other) != 0; i++)
        read_for(50 * MS);
    assert_int_equal(now.mono_ns, other.mono_ns);
}

static void lines_that_lie_higher_are_followed_at_once(void **state)
{
    struct timebase_instant now, other;
    (void)state;
    writer.refresh_lines = NOT_DUE_LINES;
    follow_lines_moved_by(50 * MS);
    timebase_now(shared, &now);
    timebase_page_convert(writer.page, now.ticks, &other);
    assert_int_equal(now.mono_ns, other.mono_ns);
    assert_int_equal(attachment().joins, 0);
}

/*
 * The same lines as a writer would have left them so long ago, good for so long without another.
 * However long it takes to read clock and counter, they are within their bound.
 */
static void leave_lines(int64_t ago_ns, int64_t silent_ns)
{
    uint64_t ticks = fixed_ticks(writer.period, MS) * (uint64_t)(ago_ns / MS);
    struct segment *left = &writer.line[0];
    int64_t before_ns = kernel_now(CLOCK_MONOTONIC);
    left->start_ticks = timebase_ticks_ordered() - ticks;
    int64_t after_ns = kernel_now(CLOCK_MONOTONIC);
    left->value = fixed_from_ns(before_ns - ago_ns);
    left->maxerror_ns = (uint64_t)(after_ns - before_ns);
    left->period = writer.period;
    writer.line[1] = writer.line[2] = *left;
    struct timebase_lines lines = writer_lines(&writer, writer.line);
    lines.validity.silent_ticks = fixed_ticks(writer.period, MS) * (uint64_t)(silent_ns / MS);
    publish_lines(writer.page, &lines, 1000);
    usleep(25000); /* what is shown by now holds for a lease */
    timebase_clock_maintain(shared);
}

static void a_silent_page_is_freerunning_and_at_last_unknown(void **state)
{
    struct timebase_instant now;
    (void)state;
    if (kernel_now(CLOCK_MONOTONIC) < 1100 * SECOND)
        skip_because("the machine started less than 1,100 s ago, and a time namespace is refused");
    /* Whoever is held up finds them older: good for minutes where that is not meant. */
    leave_lines(4 * SECOND, 500 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
    leave_lines(6 * SECOND, 5 * SECOND);
    timebase_now(shared, &now);
    assert_int_equal(status(), TIMEBASE_STATUS_FREERUNNING);
    assert_int_equal(attachment().state, TIMEBASE_ATTACHMENT_SILENT);
    assert_true(now.maxerror_ns >= WRITER_ERROR_NS + 6 * SECOND * 540 / 1000000);
    assert_true(attachment().age_ns >= 6 * SECOND - 10 * MS);
    leave_lines(1002 * SECOND, 5 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_UNKNOWN);
    assert_int_equal(attachment().state, TIMEBASE_ATTACHMENT_EXPIRED);
    writer_begin_lines(&writer);
    leave_lines(0, 500 * SECOND);
    assert_int_equal(attachment().state, TIMEBASE_ATTACHMENT_CURRENT);
    read_for(50 * MS);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
}

static void adopt_and_publish(void)
{
    static bool is_begun;
    if (!is_begun)
        writer_adopt(&writer);
    is_begun = true;
    writer_publish(&writer);
}

static void killed_writers_and_their_successors_are_not_noticed(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    uint64_t seen = attachment().publications;
    for (int i = 0; i < 25; i++) {
        uint64_t before = writer.page->seq;
        pid_t child = start_writing(adopt_and_publish);
        /* A child that was held up before its first publication is killed for nothing. */
        for (int round = 0; round < 1000 && writer.page->seq == before; round++)
            read_for(MS);
        read_for((int64_t)dice_below(&dice, 30 * MS));
        stop(child);
        read_for((int64_t)dice_below(&dice, 10 * MS));
    }
    struct timebase_attachment end = attachment();
    print_message("%d publications seen, %d joins\n", (int)(end.publications - seen),
                  (int)end.joins);
    assert_int_equal(end.error, 0);
    assert_int_equal(end.seq, writer.page->seq);
    assert_true(end.publications > seen);
}

/*
 * No page is older than its machine: in the first minutes after a boot the tests live in a time
 * namespace that is older, where the kernel allows one. Its first child is in it.
 */
static bool is_in_an_older_namespace(void)
{
    static const char offset[] = "monotonic 1100 0\n";
    if (kernel_now(CLOCK_MONOTONIC) >= 1100 * SECOND || unshare(CLONE_NEWTIME) != 0)
        return false;
    int file = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    bool is_set =
        file >= 0 && write(file, offset, sizeof(offset) - 1) == (ssize_t)sizeof(offset) - 1;
    close(file);
    return is_set;
}

static int test_all(void)
{
    const struct CMUnitTest tests[] = {
        A_PAGE(insane_lines_are_not_followed),
        A_PAGE(a_number_that_fell_is_another_writers),
        A_PAGE(killed_writers_and_their_successors_are_not_noticed),
        A_PAGE(a_small_difference_is_slewed_and_in_the_bound),
        A_PAGE(lines_that_lie_lower_are_joined_without_a_step_back),
        A_PAGE(lines_that_lie_higher_are_followed_at_once),
        A_PAGE(a_silent_page_is_freerunning_and_at_last_unknown),
    };
    return run_all(tests);
}

static void test_all_in_a_child(void)
{
    _exit(test_all());
}

int main(void)
{
    return is_in_an_older_namespace() ? child_run(test_all_in_a_child) : test_all();
}
