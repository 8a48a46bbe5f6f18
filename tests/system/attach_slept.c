/* SPDX-License-Identifier: MIT */
/*
 * An attached clock and a machine that sleeps, or whose writer dies, in virtual time: counter and
 * kernel's clocks are the test's, and the page is written as a daemon would.
 */
#include <string.h>

#include "virtual_page.h"

static void sleep_with_a_counter_that_runs(void)
{
    sleep_for(SLEEP);
}

/* UTC at once. Monotonic time may have been told up to the end of the lease that was slept over. */
static void assert_right(const struct timebase_instant *now)
{
    int64_t ahead_ns = now->mono_ns - mono_ns;
    assert_true(llabs(now->utc_ns - utc_ns) <= MS);
    assert_true(ahead_ns >= -MS && ahead_ns <= TIMEBASE_PAGE_LEASE_NS);
    assert_true(ahead_ns <= (int64_t)now->maxerror_ns);
}

static void who_reads_before_the_writer_has_seen_it_is_told(void **state)
{
    struct timebase_attachment attachment;
    (void)state;
    sleep_with_a_counter_that_runs();
    struct timebase_instant now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
    assert_right(&now);
    timebase_at(shared, counter, &now);
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
    assert_right(&now);
    assert_int_equal(timebase_clock_attachment(shared, &attachment), 0);
    assert_int_equal(attachment.error, TIMEBASE_E_DISRUPTED);
    live_for(SECOND, false);
    publish_now();
    pass(25 * MS);
    now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_right(&now);
    assert_int_equal(timebase_clock_attachment(shared, &attachment), 0);
    assert_int_equal(attachment.error, 0);
    live_for(2 * SLEEP, true);
}

/*
 * Asked again within the lease: what is shown by then may lie above the kernel's clocks, and is not
 * replaced before its end. The lines have parted from them all the same. The sleep begins anywhere
 * in a lease, for that is how far above it may be; and it makes the lines overdue, but is too short
 * for the path to be looked up again.
 */
static void who_asks_again_within_the_lease_is_told_again(void **state)
{
    struct timebase_attachment attachment;
    (void)state;
    for (int i = 0; i < 25; i++) {
        publish_now();
        pass(25 * MS);
        look();
        pass(i * MS);
        sleep_for(PERIOD + 50 * MS);
        look();
        for (int again = 0; again < 3; again++) {
            assert_int_equal(timebase_clock_attachment(shared, &attachment), 0);
            assert_int_equal(attachment.error, TIMEBASE_E_DISRUPTED);
            pass(MS);
        }
        publish_now();
        live_for(SECOND, true);
        assert_int_equal(timebase_clock_attachment(shared, &attachment), 0);
        assert_int_equal(attachment.error, 0);
    }
}

/* And so is a reader that finds another thread at the renewal; and nobody is ahead afterwards. */
static void who_is_locked_out_meanwhile_is_told_too(void **state)
{
    struct held_lock held;
    (void)state;
    held_lock_begin(&held, cell_of(shared));
    sleep_with_a_counter_that_runs();
    struct timebase_instant now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
    assert_right(&now);
    timebase_at(shared, counter, &now);
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
    held_lock_end(&held);
    publish_now();
    now = look();
    assert_right(&now);
    live_for(2 * SECOND, true);
}

/*
 * Back beyond the oldest line, as on another host: nobody draws the lines that far back, and least
 * of all where the writer is dead, whose lines would be as good as new there.
 */
static void a_counter_that_went_back_is_told(void **state)
{
    struct held_lock held;
    struct timebase_instant then;
    (void)state;
    pass(600 * SECOND);
    look();
    counter -= 1200 * (uint64_t)SECOND;
    struct timebase_instant now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
    assert_right(&now);
    timebase_at(shared, counter, &then);
    assert_int_equal(status_of(&then), TIMEBASE_STATUS_UNRELIABLE);
    live_for(SECOND, false);
    held_lock_begin(&held, cell_of(shared));
    counter -= 1200 * (uint64_t)SECOND;
    now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
    assert_right(&now);
    held_lock_end(&held);
    publish_now();
    live_for(SECOND, true);
    now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_right(&now);
}

/* The writer is dead, the counter stands still in the sleep: monotonic time is right, UTC is not.
 */
static void utc_is_held_against_the_clock_as_well(void **state)
{
    (void)state;
    live_for(SECOND, false);
    utc_ns += SLEEP;
    pass(25 * MS);
    struct timebase_instant now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
    assert_right(&now);
}

/* Lines too far ahead were followed within a lease: UTC is not theirs any more. */
static void joined_lines_take_no_offset_from_others(void **state)
{
    struct timebase_attachment attachment;
    (void)state;
    mono_ns += SLEEP; /* the writer's monotonic time is wrong, its UTC right */
    publish_now();
    mono_ns -= SLEEP;
    pass(25 * MS);
    timebase_now(shared, &(struct timebase_instant){0});
    publish_now();
    for (int i = 0; i < 1000; i++) {
        struct timebase_instant now;
        if (i % 250 == 0)
            publish_now();
        pass(MS);
        timebase_now(shared, &now);
        assert_true(llabs(now.utc_ns - utc_ns) <= 11 * MS); /* half the pace, for a lease */
        assert_true(now.mono_ns >= last_ns);
        last_ns = now.mono_ns;
    }
    assert_int_equal(timebase_clock_attachment(shared, &attachment), 0);
    assert_true(attachment.joins > 0);
}

/*
 * The kernel has thrown the counter away, which runs 1 % fast by now: readers go by the kernel's
 * clocks from lease to lease, not by lines of up to 250 ms ago, and say that nothing is promised.
 */
static void while_the_kernel_distrusts_the_counter_readings_are_its_clocks(void **state)
{
    (void)state;
    flags = TIMEBASE_STATUS_UNRELIABLE | TIMEBASE_LINE_COUNTER_DISTRUSTED;
    publish_now();
    pass(25 * MS);
    look();
    for (int i = 0; i < 2000; i++) {
        if (i % 250 == 0)
            publish_now();
        pass(MS);
        counter += MS / 100;
        struct timebase_instant now = look();
        assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
        assert_true(now.flags & TIMEBASE_LINE_COUNTER_DISTRUSTED);
        assert_true(llabs(now.utc_ns - utc_ns) <= MS / 2); /* 1 % of a lease, twice */
    }
    flags = TIMEBASE_STATUS_SYNCHRONIZED;
    publish_now();
    pass(25 * MS);
    look();
    publish_now();
    pass(25 * MS);
    struct timebase_instant now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_SYNCHRONIZED);
}

/*
 * The hypervisor's page has told of a move, and a daemon that does not read it goes on as before: by
 * the kernel's clock, whose UTC may have stood still meanwhile.
 */
static void utc_of_a_daemon_that_tells_no_move_is_not_promised_again(void **state)
{
    struct moved *moved = &mirror_of(cell_of(shared))->moved;
    (void)state;
    moved->is_moved = true;
    moved->pages = 0;
    live_for(SECOND, true);
    struct timebase_instant now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
    live_for(100 * SECOND, true);
    now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_FREERUNNING);
    assert_right(&now);
    page.disruption_marker++;
    publish_now();
    pass(25 * MS);
    now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_SYNCHRONIZED);
}

static unsigned char vmclock[WITNESS_PAGE_SIZE] __attribute__((aligned(4096)));

/* The hypervisor's page with this marker, in place of the machine's. */
static void say_marker(unsigned char marker)
{
    const unsigned char head[] = {'V', 'C', 'L', 'K', 0x70, 0, 0, 0, 1};
    memcpy(vmclock, head, sizeof(head));
    vmclock[0x10] = marker;
    mirror_of(cell_of(shared))->moved.witness.page = vmclock;
}

static int status_after_a_lease(void)
{
    pass(25 * MS);
    struct timebase_instant now = look();
    return status_of(&now);
}

/* Moved, and not looked at since a sleep that the daemon has published; or only attached after it. */
static void who_was_idle_when_the_guest_was_moved_is_told(void **state)
{
    (void)state;
    say_marker(41);
    assert_int_equal(status_after_a_lease(), TIMEBASE_STATUS_SYNCHRONIZED);
    page.disruption_marker++; /* the sleep */
    publish_now();
    say_marker(42);
    assert_int_equal(status_after_a_lease(), TIMEBASE_STATUS_UNRELIABLE);
    live_for(100 * SECOND, true);
    assert_int_equal(status_after_a_lease(), TIMEBASE_STATUS_FREERUNNING);
    page.vmclock_marker = 42; /* of 41: another daemon, which reads it */
    publish_now();
    assert_int_equal(status_after_a_lease(), TIMEBASE_STATUS_FREERUNNING);
    page.vmclock_marker = 43;
    publish_now();
    assert_int_equal(status_after_a_lease(), TIMEBASE_STATUS_SYNCHRONIZED);
    say_marker(43);
    assert_int_equal(status_after_a_lease(), TIMEBASE_STATUS_UNRELIABLE);
    page.vmclock_marker = 44;
    publish_now();
    assert_int_equal(status_after_a_lease(), TIMEBASE_STATUS_SYNCHRONIZED);
    say_marker(44); /* the look finds the page that was copied last; then a disruption is published */
    page.vmclock_marker = 0;
    assert_int_equal(status_after_a_lease(), TIMEBASE_STATUS_UNRELIABLE);
    page.disruption_marker++;
    publish_now();
    assert_int_equal(status_after_a_lease(), TIMEBASE_STATUS_SYNCHRONIZED);
    mirror_of(cell_of(shared))->moved.witness.page = NULL; /* it is not mapped */
}

/* Silence is told by each reader for itself, whoever has the lock. */
static void a_lock_that_is_held_hides_no_silence(void **state)
{
    struct held_lock held;
    struct timebase_instant now, then;
    (void)state;
    held_lock_begin(&held, cell_of(shared));
    pass(PERIOD + TIMEBASE_PAGE_SILENT_NS / 2);
    now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_SYNCHRONIZED);
    pass(TIMEBASE_PAGE_SILENT_NS);
    now = look();
    timebase_at(shared, now.ticks, &then);
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_FREERUNNING);
    assert_int_equal(status_of(&then), TIMEBASE_STATUS_FREERUNNING);
    pass(TIMEBASE_PAGE_EXPIRED_NS);
    now = look();
    timebase_at(shared, now.ticks, &then);
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNKNOWN);
    assert_int_equal(status_of(&then), TIMEBASE_STATUS_UNKNOWN);
    held_lock_end(&held);
}

/* EXPIRED is UNKNOWN, whatever has befallen the machine besides. */
static void a_sleep_makes_nothing_known_of_a_dead_writer(void **state)
{
    struct held_lock held;
    struct timebase_attachment attachment;
    (void)state;
    pass(2 * TIMEBASE_PAGE_EXPIRED_NS);
    sleep_with_a_counter_that_runs();
    pass(2 * TIMEBASE_PAGE_EXPIRED_NS);
    struct timebase_instant now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNKNOWN);
    timebase_at(shared, counter, &now);
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNKNOWN);
    assert_int_equal(timebase_clock_attachment(shared, &attachment), 0);
    assert_int_equal(attachment.state, TIMEBASE_ATTACHMENT_EXPIRED);
    held_lock_begin(&held, cell_of(shared));
    pass(SECOND);
    now = look();
    assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNKNOWN);
    held_lock_end(&held);
}

static int32_t status_in_statistics(void)
{
    struct timebase_statistics statistics;
    assert_int_equal(timebase_clock_statistics(shared, &statistics), 0);
    return statistics.status;
}

/* Also to a program that asks for nothing else meanwhile. */
static void statistics_tell_what_a_reading_tells(void **state)
{
    int32_t last = TIMEBASE_STATUS_SYNCHRONIZED;
    (void)state;
    for (int i = 0; i < 40; i++) { /* the writer is alive, nobody reads */
        pass(SECOND);
        publish_now();
        pass(25 * MS);
        assert_int_equal(status_in_statistics(), TIMEBASE_STATUS_SYNCHRONIZED);
    }
    for (int64_t silent_ns = 0; silent_ns < 2 * TIMEBASE_PAGE_EXPIRED_NS; silent_ns += SECOND) {
        pass(SECOND);
        last = status_in_statistics();
        struct timebase_instant now = look();
        assert_int_equal(status_of(&now), last);
    }
    assert_int_equal(last, TIMEBASE_STATUS_UNKNOWN);
}

/* The longer it is asked after the death, the worse. */
static void statistics_alone_tell_of_silence(void **state)
{
    (void)state;
    pass(9 * SECOND);
    assert_int_equal(status_in_statistics(), TIMEBASE_STATUS_FREERUNNING);
    pass(TIMEBASE_PAGE_EXPIRED_NS);
    assert_int_equal(status_in_statistics(), TIMEBASE_STATUS_UNKNOWN);
    sleep_for(SLEEP);
    publish_now();
    pass(25 * MS);
    assert_int_equal(status_in_statistics(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* The system's clock as a counter is another one in a time namespace, by 50 ms here. */
static void ticks_of_another_namespace_are_refused(void **state)
{
    timebase_clock *other;
    (void)state;
    publish_now();
    counter += 50 * MS;
    mono_ns += 50 * MS;
    assert_int_equal(timebase_clock_attach(&other, path), TIMEBASE_E_STALE);
    counter -= 50 * MS;
    mono_ns -= 50 * MS;
    assert_int_equal(timebase_clock_attach(&other, path), 0);
    timebase_clock_detach(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ASLEEP(who_reads_before_the_writer_has_seen_it_is_told),
        ASLEEP(who_asks_again_within_the_lease_is_told_again),
        ASLEEP(who_is_locked_out_meanwhile_is_told_too),
        ASLEEP(a_counter_that_went_back_is_told),
        ASLEEP(utc_is_held_against_the_clock_as_well),
        ASLEEP(joined_lines_take_no_offset_from_others),
        ASLEEP(while_the_kernel_distrusts_the_counter_readings_are_its_clocks),
        ASLEEP(utc_of_a_daemon_that_tells_no_move_is_not_promised_again),
        ASLEEP(who_was_idle_when_the_guest_was_moved_is_told),
        ASLEEP(a_lock_that_is_held_hides_no_silence),
        ASLEEP(a_sleep_makes_nothing_known_of_a_dead_writer),
        ASLEEP(statistics_tell_what_a_reading_tells),
        ASLEEP(statistics_alone_tell_of_silence),
        ASLEEP(ticks_of_another_namespace_are_refused),
    };
    return run_in_folder(tests);
}
