/* SPDX-License-Identifier: MIT */
/*
 * What may become of a page while a process is attached to it. Whatever it is, time goes on, never
 * back, and within its bound.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <sys/time.h>

#include "clock/attach/mirror.h"
#include "../unit/held_lock.h"
#include "child.h"
#include "page_writer.h"
#include "whole_clock.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define MS 1000000
#define SECOND 1000000000LL

static struct page_writer writer;
static timebase_clock *shared;

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

/* Every inline reader and conversion; monotonic time rises and lies within its bound. */
static void read_for(int64_t ns)
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

static struct timebase_attachment attachment(void)
{
    struct timebase_attachment attachment;
    assert_int_equal(timebase_clock_attachment(shared, &attachment), 0);
    return attachment;
}

static int status(void)
{
    struct timebase_instant now;
    timebase_now(shared, &now);
    return (int)(now.flags & TIMEBASE_LINE_STATUS_MASK);
}

static int begin(void **state)
{
    (void)state;
    writer = writer_new();
    return timebase_clock_attach(&shared, writer.path);
}

static int end(void **state)
{
    (void)state;
    timebase_clock_detach(shared);
    writer_remove(&writer);
    return 0;
}

/* In a child: publish until killed, or until the parent has died. */
static pid_t start_writing(void (*how)(void))
{
    pid_t child = fork();
    if (child != 0)
        return child;
    while (getppid() != 1) {
        how();
        usleep(1000);
    }
    _exit(0);
}

static void stop(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void publish_once(void)
{
    writer_publish(&writer);
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

static struct timebase_page saved;

static void cut_and_mend(void)
{
    int fd = open(writer.path, O_WRONLY | O_CLOEXEC);
    for (off_t size = 0; size < 512; size += 100) {
        (void)!ftruncate(fd, size);
        usleep(500);
    }
    (void)!pwrite(fd, &saved, sizeof(saved), 0);
    close(fd);
}

/* A mapping would raise SIGBUS. */
static void a_truncated_file_kills_nobody(void **state)
{
    (void)state;
    memcpy(&saved, writer.page, sizeof(saved));
    pid_t child = start_writing(cut_and_mend);
    read_for(300 * MS);
    stop(child);
    assert_int_equal(truncate(writer.path, 4), 0);
    assert_int_equal(attachment().error, TIMEBASE_E_FORMAT);
    read_for(10 * MS);
    assert_true(attachment().refusals > 0);
}

static void a_vanished_file_is_told_and_a_new_one_taken_up(void **state)
{
    (void)state;
    unlink(writer.path);
    read_for(700 * MS);
    assert_int_equal(attachment().error, TIMEBASE_E_NOT_FOUND);
    writer_replace(&writer);
    read_for(200 * MS);
    assert_int_equal(attachment().error, 0);
    assert_int_equal(attachment().openings, 2);
    assert_int_equal(attachment().seq, writer.page->seq);
}

static void a_replaced_file_is_noticed(void **state)
{
    (void)state;
    writer_replace(&writer);
    read_for(800 * MS);
    assert_int_equal(attachment().openings, 2);
    writer_publish(&writer);
    assert_int_equal(attachment().seq, writer.page->seq);
}

static void a_page_made_writable_for_others_is_no_longer_followed(void **state)
{
    (void)state;
    uint64_t seq = attachment().seq;
    chmod(writer.path, 0666);
    writer_publish(&writer);
    assert_int_equal(attachment().error, TIMEBASE_E_UNTRUSTED);
    assert_int_equal(attachment().seq, seq);
    read_for(10 * MS);
    chmod(writer.path, 0644);
    assert_int_equal(attachment().error, 0);
    assert_int_equal(attachment().seq, writer.page->seq);
}

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

/* A thread that is held up is told the time only when the lines have come so far: once more, then.
 */
#define ATTEMPTS 20

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

/* 50 µs at 500 ppm take 100 ms. */
static void a_small_difference_is_slewed_and_in_the_bound(void **state)
{
    struct timebase_instant now, other;
    struct clock_hold hold;
    (void)state;
    /* Followed up to the renewal, lest a delay make good what the lines lack. */
    assert_true(cell_try_lock(cell_of(shared), &hold));
    usleep(30000);
    timebase_now(shared, &now);
    writer_move(&writer, -50000);
    writer_publish(&writer);
    cell_unlock(cell_of(shared), &hold);
    timebase_now(shared, &now);
    assert_true(attachment().joins > 0);
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
    follow_lines_moved_by(50 * MS);
    timebase_now(shared, &now);
    timebase_page_convert(writer.page, now.ticks, &other);
    assert_int_equal(now.mono_ns, other.mono_ns);
    assert_int_equal(attachment().joins, 0);
}

/* The same lines as a writer would have left them so long ago. */
static void let_writer_have_died(int64_t ago_ns)
{
    uint64_t ticks = fixed_ticks(writer.period, MS) * (uint64_t)(ago_ns / MS);
    for (int i = 0; i < 3; i++) {
        writer.line[i].start_ticks = timebase_ticks_ordered() - ticks;
        writer.line[i].value = fixed_from_ns(kernel_now(CLOCK_MONOTONIC) - ago_ns);
        writer.line[i].period = writer.period;
    }
    writer.line[1] = writer.line[2] = writer.line[0];
    struct timebase_lines lines = writer_lines(&writer, writer.line);
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
    let_writer_have_died(4 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
    let_writer_have_died(6 * SECOND);
    timebase_now(shared, &now);
    assert_int_equal(status(), TIMEBASE_STATUS_FREERUNNING);
    assert_int_equal(attachment().state, TIMEBASE_ATTACHMENT_SILENT);
    assert_true(now.maxerror_ns >= WRITER_ERROR_NS + 6 * SECOND * 540 / 1000000);
    assert_true(attachment().age_ns >= 6 * SECOND - 10 * MS);
    let_writer_have_died(1002 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_UNKNOWN);
    assert_int_equal(attachment().state, TIMEBASE_ATTACHMENT_EXPIRED);
    writer_begin_lines(&writer);
    writer_publish(&writer);
    assert_int_equal(attachment().state, TIMEBASE_ATTACHMENT_CURRENT);
    read_for(50 * MS);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* closefrom(3), as daemons do; the number then belongs to somebody else. */
static void a_descriptor_closed_by_the_program_is_opened_again(void **state)
{
    (void)state;
    int number = mirror_of(cell_of(shared))->file.fd;
    int other = open("/dev/null", O_RDWR);
    assert_int_equal(dup2(other, number), number);
    close(other);
    read_for(150 * MS);
    assert_int_equal(attachment().error, 0);
    writer_publish(&writer);
    assert_int_equal(attachment().seq, writer.page->seq);
    assert_int_equal(write(number, "x", 1), 1); /* still what the program opened */
    close(number);
}

/* Its number was given to a copy of the page, say: that is not looked at for a moment. */
static void a_descriptor_of_somebody_else_is_not_read(void **state)
{
    (void)state;
    int number = mirror_of(cell_of(shared))->file.fd;
    assert_int_equal(attachment().seq, writer.page->seq);
    int other = open(writer.folder, O_TMPFILE | O_RDWR, 0600);
    if (other < 0)
        skip_because("no unnamed files here");
    assert_int_equal(write(other, writer.page, sizeof(*writer.page)), sizeof(*writer.page));
    assert_int_equal(dup2(other, number), number);
    close(other);
    writer_publish(&writer);
    usleep(25000);
    assert_int_equal(attachment().seq, writer.page->seq);
    close(number);
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

/* Alternately in the thread and in the handler that interrupts it, also in mid-renewal. */
static void signal_handlers_may_read(void **state)
{
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    (void)state;
    signal(SIGALRM, read_in_handler);
    setitimer(ITIMER_REAL, &often, NULL);
    int64_t last_ns = 0, end_ns = kernel_now(CLOCK_MONOTONIC) + 300 * MS;
    while (last_ns < end_ns) {
        timebase_clock_maintain(shared);
        int64_t now_ns = timebase_mono_ns(shared);
        went_back |= now_ns < last_ns;
        last_ns = now_ns;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    assert_true(handled > 10);
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
    assert_int_equal(attachment().joins, 1);
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
#define A_PAGE(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        A_PAGE(every_function_works_on_an_attached_clock),
        A_PAGE(a_truncated_file_kills_nobody),
        A_PAGE(a_vanished_file_is_told_and_a_new_one_taken_up),
        A_PAGE(a_replaced_file_is_noticed),
        A_PAGE(a_page_made_writable_for_others_is_no_longer_followed),
        A_PAGE(insane_lines_are_not_followed),
        A_PAGE(a_number_that_fell_is_another_writers),
        A_PAGE(killed_writers_and_their_successors_are_not_noticed),
        A_PAGE(a_descriptor_closed_by_the_program_is_opened_again),
        A_PAGE(a_descriptor_of_somebody_else_is_not_read),
        A_PAGE(a_child_goes_on),
        A_PAGE(a_child_mends_what_it_finds_locked),
        A_PAGE(signal_handlers_may_read),
        A_PAGE(only_a_lease_that_ran_out_is_a_rescue),
        A_PAGE(restart_looks_afresh),
        A_PAGE(who_is_locked_out_goes_on_and_is_not_overtaken_backwards),
        A_PAGE(lines_that_begin_during_the_look_are_renewed_like_others),
        A_PAGE(a_look_that_outlasts_the_lease_takes_nobody_back),
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
