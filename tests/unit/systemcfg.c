/* SPDX-License-Identifier: MIT */
/*
 * What examples/power reads and keeps under the names of 2007: its two multiplications agree, its
 * fields tell the clock's time, and the faults of the article's listings do not come back. Each of
 * these faults is here, too, and bites; over a kernel's own fields, in tests/guests.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

#include "../../examples/power/tb_nano.h"

/* Listing 6: the middle of the product in one variable of 64 bits. */
static uint64_t high_2007(uint64_t a, uint64_t b)
{
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t middle = a_high * b_low + b_high * a_low + (a_low * b_low >> 32);
    return a_high * b_high + (middle >> 32);
}

static void the_article_loses_a_carry_and_ours_does_not(void **state)
{
    uint64_t high, low;
    (void)state;
    assert_true(high_2007(UINT64_MAX, UINT64_MAX) == 0xfffffffefffffffe);
    multiply(UINT64_MAX, UINT64_MAX, &high, &low);
    assert_true(high == 0xfffffffffffffffe && low == 1);
    multiply_c(UINT64_MAX, UINT64_MAX, &high, &low);
    assert_true(high == 0xfffffffffffffffe && low == 1);
}

/* On Power one is assembly; elsewhere they are the same. */
static void both_ways_to_multiply_agree(void **state)
{
    uint64_t seed = 88172645463325252;
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t a = seed *= 6364136223846793005, b = seed *= 6364136223846793005;
        uint64_t high, low, high_c, low_c;
        multiply(a >> (i % 64), b, &high, &low);
        multiply_c(a >> (i % 64), b, &high_c, &low_c);
        assert_true(high == high_c && low == low_c);
    }
}

/* Of counts before and after that one is odd, or that differ, the article repeats (5, 6) alone. */
static bool repeats_2007(uint64_t start, uint64_t end)
{
    return start != end && (start & 1) != 0;
}

#define OLD_XSEC (1000 * XSEC_PER_SEC)
#define NEW_XSEC (2000 * XSEC_PER_SEC)
#define WAIT_US 20000

/* No ticks in a length of 0: the time is the stamp, whatever the counter says. */
static struct systemcfg fields;

static void end_update(int signal)
{
    (void)signal;
    timebase_page_set_word(&fields.stamp_xsec, NEW_XSEC);
    timebase_page_set_word_release(&fields.tb_update_count, 6);
}

static void a_reader_waits_for_the_end_of_an_update(void **state)
{
    struct sigaction action;
    const struct itimerval once = {{0, 0}, {0, WAIT_US}};
    (void)state;
    assert_false(repeats_2007(5, 5));
    assert_false(repeats_2007(4, 6));
    memset(&action, 0, sizeof action);
    action.sa_handler = end_update;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    fields.stamp_xsec = OLD_XSEC;
    fields.tb_update_count = 5;
    cfg = &fields;
    assert_int_equal(setitimer(ITIMER_REAL, &once, NULL), 0);
    assert_true(tb_xsec() == NEW_XSEC);
    assert_true(tb_nano() == 2000000000000 && tb_milli() == 2000000);
}

/* The clock may have new lines by now: both are within their bound of the same reference. */
static void assert_within_bounds(uint64_t ticks, uint64_t xsec)
{
    struct timebase_instant then;
    timebase_at(timebase_clock_default(), ticks, &then);
    uint64_t sec = xsec / XSEC_PER_SEC, rest = xsec % XSEC_PER_SEC;
    int64_t ns = (int64_t)(sec * 1000000000 + rest * 1000000000 / XSEC_PER_SEC);
    uint64_t off_ns = (uint64_t)llabs(then.utc_ns - ns);
    if (off_ns > 2 * then.maxerror_ns + 1)
        print_message("%lld ns of the clock, %lld of the fields\n", (long long)then.utc_ns,
                      (long long)ns);
    assert_true(off_ns <= 2 * then.maxerror_ns + 1);
}

static void the_fields_tell_the_time_of_the_clock(void **state)
{
    static struct systemcfg kept;
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        systemcfg_renew(&kept, timebase_clock_default());
        assert_true(kept.tb_update_count == 2 * (i + 1));
        assert_within_bounds(kept.tb_orig_stamp, kept.stamp_xsec);
        assert_within_bounds(kept.tb_orig_stamp + kept.tb_ticks_per_sec,
                             kept.stamp_xsec + XSEC_PER_SEC);
        /* A second of ticks makes a second of xseconds, less one for what is rounded down. */
        uint64_t sec = timebase_multiply_high(kept.tb_ticks_per_sec, kept.tb_to_xs);
        assert_true(sec == XSEC_PER_SEC || sec == XSEC_PER_SEC - 1);
    }
    assert_string_equal(kept.eye_catcher, "SYSTEMCFG:PPC64");
}

static void an_update_that_was_left_half_done_is_ended_by_the_next(void **state)
{
    struct systemcfg left;
    (void)state;
    memset(&left, 0, sizeof left);
    left.tb_update_count = 5;
    systemcfg_renew(&left, timebase_clock_default());
    assert_true(left.tb_update_count == 6);
}

static void without_a_file_the_fields_are_our_own(void **state)
{
    (void)state;
    assert_int_equal(systemcfg_open("/nowhere"), 1);
    assert_true(timebase_page_word(&cfg->tb_to_xs) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_article_loses_a_carry_and_ours_does_not),
        cmocka_unit_test(both_ways_to_multiply_agree),
        cmocka_unit_test(a_reader_waits_for_the_end_of_an_update),
        cmocka_unit_test(the_fields_tell_the_time_of_the_clock),
        cmocka_unit_test(an_update_that_was_left_half_done_is_ended_by_the_next),
        cmocka_unit_test(without_a_file_the_fields_are_our_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
