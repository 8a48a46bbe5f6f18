/* SPDX-License-Identifier: MIT */
/*
 * What may befall a process that is attached to a page: forks and signals, and being held up at any
 * place, also while it looks at the file.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/time.h>

#include "clock/attach/mirror.h"
#include "../unit/held_lock.h"
#include "attached.h"
#include "whole_clock.h"

/* What is to happen once while the library looks at the file. */
static void (*in_look)(void);

ssize_t __real_uncancelled_pread(int fd, void *bytes, size_t size, long offset);
ssize_t __wrap_uncancelled_pread(int fd, void *bytes, size_t size, long offset);

ssize_t __wrap_uncancelled_pread(int fd, void *bytes, size_t size, long offset)
{
    void (*once)(void) = in_look;
    in_look = NULL;
    if (once != NULL)
        once();
    return __real_uncancelled_pread(fd, bytes, size, offset);
}

static void every_function_works_on_an_attached_clock(void **state)
{
    (void)state;
    pid_t child = start_writing(publish_once);
    whole_clock_check(shared);
    read_for(50 * MS);
    stop(child);
    assert_int_equal(attachment().error, 0);
    assert_int_equal(attachment().state, TIMEBASE_ATTACHMENT_CURRENT);
    assert_true(attachment().publications > 1);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
}

static void live_as_child(void)
{
    struct timebase_attachment attachment;
    int64_t last_ns = timebase_mono_ns(shared), end_ns = kernel_now(CLOCK_MONOTONIC) + 50 * MS;
    while (kernel_now(CLOCK_MONOTONIC) < end_ns) {
        int64_t now_ns = timebase_mono_ns(shared);
        EXPECT(now_ns >= last_ns);
        last_ns = now_ns;
    }
    EXPECT(timebase_clock_attachment(shared, &attachment) == 0 && attachment.error == 0);
    EXPECT(attachment.seq == writer.page->seq);
    timebase_clock_detach(shared);
}

static void a_child_goes_on(void **state)
{
    (void)state;
    child_must_pass(live_as_child);
    read_for(10 * MS);
}

/* The parent's thread that was at the renewal is not there, and left its records as they were. */
static void live_with_half_written_records(void)
{
    struct mirror *mirror = mirror_of(cell_of(shared));
    int64_t told_ns = timebase_mono_ns(shared);
    memset(&mirror->lines, 0x5a, sizeof(mirror->lines));
    mirror->changed_ticks = 0x5a5a5a5a5a5a5a5a;
    leave_locked(&mirror->cell);
    usleep(25000);
    EXPECT(timebase_mono_ns(shared) >= told_ns);
    EXPECT(mirror->lines.after.start_ticks ==
           writer.page->copy[writer.page->seq & 1].after.start_ticks);
    live_as_child();
}

static void a_child_mends_what_it_finds_locked(void **state)
{
    (void)state;
    child_must_pass(live_with_half_written_records);
}

static volatile sig_atomic_t handled, went_back;

static void read_in_handler(int number)
{
    static int64_t last_ns;
    (void)number;
    int64_t now_ns = timebase_mono_ns(shared);
    went_back |= now_ns < last_ns;
    last_ns = now_ns;
    handled++;
}

#define HANDLED 10          /* at least: signals become one while the processor is another's */
#define READINGS 100000000u /* at most: minutes without those signals */

/* Alternately in the thread and in the handler that interrupts it, also in mid-renewal. */
static void signal_handlers_may_read(void **state)
{
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    unsigned readings = 0;
    (void)state;
    signal(SIGALRM, read_in_handler);
    setitimer(ITIMER_REAL, &often, NULL);
    int64_t last_ns = 0, end_ns = kernel_now(CLOCK_MONOTONIC) + 300 * MS;
    while ((last_ns < end_ns || handled <= HANDLED) && readings++ < READINGS) {
        timebase_clock_maintain(shared);
        int64_t now_ns = timebase_mono_ns(shared);
        went_back |= now_ns < last_ns;
        last_ns = now_ns;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    assert_true(handled > HANDLED);
    assert_int_equal(went_back, 0);
}

/* Who finds the lock taken beyond the lease goes on, and who had it begins above. */
static void who_is_locked_out_goes_on_and_is_not_overtaken_backwards(void **state)
{
    struct clock_cell *cell = cell_of(shared);
    struct timebase_instant now;
    struct clock_hold hold;
    (void)state;
    int64_t last_ns = timebase_mono_ns(shared);
    assert_true(cell_try_lock(cell, &hold));
    usleep(30000);
    for (int i = 0; i < 10; i++) {
        timebase_now(shared, &now);
        assert_true(now.mono_ns >= last_ns);
        last_ns = now.mono_ns;
    }
    assert_true(mirror_of(cell)->follow == FOLLOW_LINES);
    writer_move(&writer, -50000);
    writer_publish(&writer);
    cell_unlock(cell, &hold);
    timebase_now(shared, &now);
    assert_true(now.mono_ns >= last_ns);
    assert_true(attachment().joins >= 1); /* more, if this thread was held up */
}

static int64_t told_ns;

/* What a writer does in 100 ms, and what is told meanwhile. The new line falls off the old one. */
static void hold_up_the_look(void)
{
    const int64_t held_up_ns = 100 * MS;
    struct segment *line = writer.line;
    uint64_t now = timebase_ticks_ordered();
    line[0] = line[1] = line[2];
    for (int i = 1; i < 3; i++) {
        line[i].start_ticks = now + fixed_ticks(writer.period, WRITER_LEAD_NS);
        line[i].value = segment_at(&line[0], line[i].start_ticks);
        line[i].period = fixed_over(fixed_times(writer.period, 9), 10);
    }
    struct timebase_lines lines = writer_lines(&writer, line);
    publish_lines(writer.page, &lines, fixed_ticks(writer.period, SECOND)); /* not overdue */
    usleep((useconds_t)(held_up_ns / 1000));
    told_ns = timebase_mono_ns(shared);
}

/* It was begun within the lease; by its end others have gone on without it. */
static void a_look_that_outlasts_the_lease_takes_nobody_back(void **state)
{
    (void)state;
    in_look = hold_up_the_look;
    timebase_clock_maintain(shared);
    assert_true(timebase_mono_ns(shared) >= told_ns);
}

static void publish_what_begins_now(void)
{
    struct segment line = {0};
    line.start_ticks = timebase_ticks_ordered();
    line.value = fixed_from_ns(kernel_now(CLOCK_MONOTONIC));
    line.period = writer.period;
    line.utc_offset_ns = writer.line[0].utc_offset_ns;
    writer.line[0] = writer.line[1] = writer.line[2] = line;
    struct timebase_lines lines = writer_lines(&writer, writer.line);
    publish_lines(writer.page, &lines, 0);
}

/* As a writer's first ones do, or those after a disruption. */
static void lines_that_begin_during_the_look_are_renewed_like_others(void **state)
{
    struct timebase_instant now;
    (void)state;
    assert_int_equal(timebase_clock_restart(shared), 0);
    in_look = publish_what_begins_now;
    assert_int_equal(timebase_clock_maintain(shared), 0);
    usleep(30000);
    writer_publish(&writer);
    timebase_now(shared, &now);
    assert_int_equal(mirror_of(cell_of(shared))->seq, writer.page->seq);
}

static uint64_t rescues(void)
{
    struct timebase_statistics statistics;
    assert_int_equal(timebase_clock_statistics(shared, &statistics), 0);
    return statistics.rescues;
}

/* Maintained, then read when its next line has begun. Whether that was within the lease. */
static bool read_on_the_next_line(void)
{
    uint64_t begin = timebase_ticks_ordered();
    struct segment *line = writer.line;
    for (int i = 1; i < 3; i++) {
        line[i] = line[0];
        line[i].start_ticks = begin + fixed_ticks(writer.period, 2 * MS);
        line[i].value = segment_at(&line[0], line[i].start_ticks);
    }
    struct timebase_lines lines = writer_lines(&writer, line);
    publish_lines(writer.page, &lines, 0);
    timebase_clock_maintain(shared);
    while ((int64_t)(timebase_ticks_ordered() - line[1].start_ticks) < 0)
        ;
    timebase_mono_ns(shared);
    uint64_t lease = fixed_ticks(writer.period, TIMEBASE_PAGE_LEASE_NS);
    return timebase_ticks_ordered() - begin < lease;
}

/* What a clock in good hands does at the end of each line is no rescue. */
static void only_a_lease_that_ran_out_is_a_rescue(void **state)
{
    (void)state;
    timebase_clock_set_maintenance(shared, TIMEBASE_MAINTENANCE_MANUAL);
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t before = rescues();
        if (read_on_the_next_line())
            assert_int_equal(rescues(), before);
    }
    uint64_t before = rescues();
    usleep(30000);
    timebase_mono_ns(shared);
    assert_true(rescues() > before);
}

static void restart_looks_afresh(void **state)
{
    (void)state;
    assert_int_equal(timebase_clock_restart(shared), 0);
    read_for(5 * MS);
    assert_int_equal(attachment().openings, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        A_PAGE(every_function_works_on_an_attached_clock),
        A_PAGE(a_child_goes_on),
        A_PAGE(a_child_mends_what_it_finds_locked),
        A_PAGE(signal_handlers_may_read),
        A_PAGE(only_a_lease_that_ran_out_is_a_rescue),
        A_PAGE(restart_looks_afresh),
        A_PAGE(who_is_locked_out_goes_on_and_is_not_overtaken_backwards),
        A_PAGE(lines_that_begin_during_the_look_are_renewed_like_others),
        A_PAGE(a_look_that_outlasts_the_lease_takes_nobody_back),
    };
    return run_all(tests);
}
