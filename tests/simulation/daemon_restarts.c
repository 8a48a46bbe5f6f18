/* SPDX-License-Identifier: MIT */
/*
 * A daemon ends, something befalls the machine or has befallen it, and a daemon begins: what it can
 * know of that, and what it promises meanwhile. The shipped daemon, its drivers and its loop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/daemon.h"
#include "daemon/wake.h"
#include "guest.h"

#define POLL_NS (64 * SECOND)

static struct settings settings;
static struct options options;
static void (*befalls)(void); /* at this monotonic time; NULL: nothing */
static int64_t befalls_ns;
static int64_t until_ns;  /* monotonic */
static int64_t reload_ns; /* moved, and then configured anew, likewise; 0: not at all */
static unsigned promised; /* readings */

static void read_page(void)
{
    struct timebase_instant now;
    if (!guest.has_page || !timebase_page_convert(&guest.page, guest_ticks(), &now) ||
        (now.flags & TIMEBASE_LINE_STATUS_MASK) != TIMEBASE_STATUS_SYNCHRONIZED ||
        now.flags & TIMEBASE_LINE_ESTIMATE)
        return;
    int64_t off_ns = now.utc_ns - guest_utc_ns();
    promised++;
    if ((uint64_t)(off_ns < 0 ? -off_ns : off_ns) > now.utc_maxerror_ns)
        fail_msg("off by %lld, bound %llu", (long long)off_ns,
                 (unsigned long long)now.utc_maxerror_ns);
}

static unsigned wait_until(uint64_t ns, int *fds, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fds[i] = -1;
    if (guest.stores > 0)
        read_page();
    guest_pass((int64_t)ns + 1);
    if (befalls != NULL && guest_mono_ns() >= befalls_ns) {
        befalls();
        befalls = NULL;
    }
    if (reload_ns != 0 && guest_mono_ns() >= reload_ns) {
        reload_ns = 0;
        guest_stop(3 * SECOND, 0);
        return WAKE_RELOAD;
    }
    return guest_mono_ns() < until_ns ? WAKE_TIME : WAKE_END;
}

/* Readings that promised UTC in so long a life; each within its bound. */
static unsigned run_for(int64_t ns)
{
    guest.stores = 0; /* what is there before its first page is not its own */
    promised = 0;
    until_ns = guest_mono_ns() + ns;
    guest_wait = wait_until;
    assert_int_equal(daemon_run(&options, &settings), 0);
    return promised;
}

static void begin(enum guest_kind kind)
{
    guest_begin(1, kind);
    guest.chronyd.poll_ns = POLL_NS;
    settings_default(&settings);
    settings.log_level = 0;
    settings.source_count = 1;
    strcpy(settings.sources[0], "chrony");
    guest_pass(SECOND);
}

/* To the next poll, and to what the daemon makes of it. */
static void expect_promise_after_the_poll(void)
{
    int64_t left_ns = guest.chronyd.polled_mono_ns + POLL_NS - guest_mono_ns();
    assert_int_equal(run_for(left_ns - 2 * SECOND), 0);
    assert_true(run_for(20 * SECOND) > 40);
}

static void who_cannot_have_been_moved_believes_at_once(void **state)
{
    (void)state;
    begin(GUEST_IS_NONE);
    assert_true(run_for(20 * SECOND) > 60);
    assert_true(run_for(5 * SECOND) > 10);
    begin(GUEST_ON_TSC);
    settings.never_moved = true;
    assert_true(run_for(20 * SECOND) > 60);
    assert_true(run_for(5 * SECOND) > 10);
    begin(GUEST_ON_KVM_CLOCK);
    assert_true(run_for(20 * SECOND) > 60);
    assert_true(run_for(5 * SECOND) > 10);
}

/* Counter and kernel's clock stood still together: the page fits, and chronyd knows nothing yet. */
static void a_daemon_started_after_a_move_waits_for_chronyd_to_measure(void **state)
{
    (void)state;
    begin(GUEST_ON_TSC);
    assert_int_equal(run_for(20 * SECOND), 0);
    guest_stop(3 * SECOND, 0);
    expect_promise_after_the_poll();
    guest_stop(3 * SECOND, 0);
    expect_promise_after_the_poll();
    assert_int_equal(guest.pages, 1); /* each has taken it up */
}

static void a_sleep_that_the_daemon_before_has_seen_is_not_forgotten(void **state)
{
    (void)state;
    begin(GUEST_IS_NONE);
    assert_true(run_for(20 * SECOND) > 60);
    guest_sleep(100 * SECOND, GUEST_COUNTER_RUNS, SECOND / 2);
    run_for(SECOND);
    expect_promise_after_the_poll();
}

static void a_jump_that_the_daemon_before_has_seen_is_not_forgotten(void **state)
{
    (void)state;
    begin(GUEST_ON_KVM_CLOCK);
    assert_true(run_for(20 * SECOND) > 60);
    guest_jump((int64_t)(guest.hz * 30));
    run_for(5 * SECOND);
    expect_promise_after_the_poll();
}

/* The kernel's word is an estimate, and who might have told of the move was not asked. */
static void a_source_that_is_added_after_a_move_waits_for_its_measurement(void **state)
{
    struct problem problem;
    (void)state;
    begin(GUEST_ON_TSC);
    strcpy(settings.sources[0], "kernel");
    settings_default(&options.flags);
    options.config = "/dev/null";
    settings_set(&options.flags, SETTINGS_KEY_REFERENCE, "chrony", 6, &problem);
    settings_set(&options.flags, SETTINGS_KEY_LOG_LEVEL, "error", 5, &problem);
    int64_t polls_ns = guest.chronyd.polled_mono_ns + POLL_NS; /* and again after as long */
    reload_ns = polls_ns + 20 * SECOND;
    assert_int_equal(run_for(polls_ns + POLL_NS - 2 * SECOND - guest_mono_ns()), 0);
    strcpy(settings.sources[0], "chrony");
    assert_true(run_for(20 * SECOND) > 40);
}

static void sleep_well(void)
{
    guest_sleep(100 * SECOND, GUEST_COUNTER_RUNS, 0);
}

static void follow_too(const char *source)
{
    snprintf(settings.sources[settings.source_count++], SETTINGS_PATH, "%s", source);
}

static void follow_hypervisor(void)
{
    char path[64];
    guest.has_marker = true;
    guest_write_hypervisors_page();
    snprintf(path, sizeof(path), "vmclock:/proc/self/fd/%d", guest.page_fd);
    follow_too(path);
}

/* By the sample that shows it, and not by the battery clock once more. */
static void a_sleep_is_told_once(void **state)
{
    (void)state;
    begin(GUEST_ON_KVM_CLOCK);
    guest.has_rtc = true;
    befalls = sleep_well;
    befalls_ns = guest_mono_ns() + 10 * SECOND;
    assert_true(run_for(30 * SECOND) > 30);
    assert_int_equal(guest.page.disruption_marker, 1);
}

static void stop(void)
{
    guest_stop(100 * SECOND, 0);
}

/* By the hypervisor's page, likewise. */
static void a_move_is_told_once(void **state)
{
    (void)state;
    begin(GUEST_ON_TSC);
    guest.has_rtc = true;
    follow_hypervisor();
    befalls = stop;
    befalls_ns = guest_mono_ns() + 10 * SECOND;
    run_for(30 * SECOND);
    assert_int_equal(guest.page.disruption_marker, 1);
    guest_end();
}

/* The page shows it: it does not fit. */
static void a_jump_while_there_is_no_daemon_is_seen(void **state)
{
    (void)state;
    begin(GUEST_IS_NONE);
    assert_true(run_for(20 * SECOND) > 60);
    guest_jump((int64_t)(guest.hz * 30));
    expect_promise_after_the_poll();
    assert_int_equal(guest.pages, 2);
}

static void put_back_together(void)
{
    guest_stop_with_clock(3 * SECOND);
    guest.stores = 0; /* up to the next sample nobody has been told */
}

/* QEMU puts kvm-clock and counter back as it saved them. The hypervisor's page tells it; chronyd
 * knows nothing; and the kernel's word alone makes the page SYNCHRONIZED, as an estimate. */
static void an_estimate_after_a_move_is_no_promise_to_the_next_daemon(void **state)
{
    (void)state;
    begin(GUEST_ON_KVM_CLOCK);
    follow_hypervisor();
    follow_too("kernel");
    befalls = put_back_together;
    befalls_ns = guest_mono_ns() + 10 * SECOND;
    run_for(20 * SECOND);
    assert_true(guest.page.copy[guest.page.seq & 1].after.flags & TIMEBASE_LINE_ESTIMATE);
    assert_int_equal(guest.page.disruption_marker, 1);
    expect_promise_after_the_poll();
    guest_end();
}

/* Only the marker tells it, and readers that have seen it wait for the daemon's word. */
static void a_move_while_there_is_no_daemon_is_published(void **state)
{
    (void)state;
    begin(GUEST_ON_TSC);
    follow_hypervisor();
    run_for(20 * SECOND);
    run_for(20 * SECOND); /* nothing has happened in between */
    assert_true(guest.page.disruption_marker == 0);
    uint64_t accounted = guest.page.vmclock_marker;
    assert_true(accounted != 0);
    guest_stop(3 * SECOND, 0);
    run_for(20 * SECOND);
    assert_int_equal(guest.pages, 1); /* it was taken up */
    assert_true(guest.page.disruption_marker == 1);
    assert_true(guest.page.vmclock_marker == accounted + 1);
}

static void give_up_the_counter(void)
{
    guest.is_given_up = guest.do_differ = true;
}

static void find_a_difference(void)
{
    guest.do_differ = true;
}

static void befall_after(int64_t ns, void (*what)(void))
{
    befalls = what;
    befalls_ns = guest_mono_ns() + ns;
}

/* A page's counter does not change. Where nothing can be corrected, that is found out once. */
static void a_daemon_whose_counter_is_given_up_later_begins_anew_once(void **state)
{
    (void)state;
    begin(GUEST_IS_NONE);
    befall_after(20 * SECOND, give_up_the_counter);
    run_for(60 * SECOND);
    assert_true(guest.lives == 2 && guest.corrections == 1);
    assert_true(guest.stores > 30);
    run_for(20 * SECOND); /* and the next one at its beginning */
    assert_true(guest.lives == 3 && guest.corrections == 2);
}

static void so_does_one_whose_cpus_differ_later(void **state)
{
    (void)state;
    begin(GUEST_IS_NONE);
    guest.is_given_up = true;
    befall_after(20 * SECOND, find_a_difference);
    run_for(60 * SECOND);
    assert_true(guest.lives == 2 && guest.corrections == 2);
}

static void but_not_one_whose_counter_the_kernel_keeps_or_whose_cpus_agree(void **state)
{
    (void)state;
    begin(GUEST_IS_NONE);
    befall_after(20 * SECOND, find_a_difference);
    run_for(60 * SECOND);
    assert_true(guest.lives == 1 && guest.corrections == 0);
    begin(GUEST_IS_NONE);
    guest.is_given_up = true;
    run_for(60 * SECOND);
    assert_true(guest.lives == 1 && guest.corrections == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_cannot_have_been_moved_believes_at_once),
        cmocka_unit_test(a_daemon_started_after_a_move_waits_for_chronyd_to_measure),
        cmocka_unit_test(a_sleep_that_the_daemon_before_has_seen_is_not_forgotten),
        cmocka_unit_test(a_jump_that_the_daemon_before_has_seen_is_not_forgotten),
        cmocka_unit_test(a_jump_while_there_is_no_daemon_is_seen),
        cmocka_unit_test(a_move_while_there_is_no_daemon_is_published),
        cmocka_unit_test(a_sleep_is_told_once),
        cmocka_unit_test(a_move_is_told_once),
        cmocka_unit_test(an_estimate_after_a_move_is_no_promise_to_the_next_daemon),
        cmocka_unit_test(a_source_that_is_added_after_a_move_waits_for_its_measurement),
        cmocka_unit_test(a_daemon_whose_counter_is_given_up_later_begins_anew_once),
        cmocka_unit_test(so_does_one_whose_cpus_differ_later),
        cmocka_unit_test(but_not_one_whose_counter_the_kernel_keeps_or_whose_cpus_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
