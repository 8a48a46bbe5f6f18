/* SPDX-License-Identifier: MIT */
/* The driver: whom it asks, what becomes of an answer; steps of the system clock are the test's. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static int stepped_utc_offset(int64_t *offset_ns);

/* The driver itself, with its view of UTC in our hands. */
#undef fail /* of cmocka: the driver has one of its own */
#define reference_utc_offset stepped_utc_offset
#define source_driver_chrony stepped_driver
#include "daemon/sources/drivers.h"
#include "clock/reference/reference.h"
#include "daemon/sources/chrony.c"

#include "fake_chronyd.h"

static int64_t utc_offset_ns = 1795000000000000000;

static int stepped_utc_offset(int64_t *offset_ns)
{
    *offset_ns = utc_offset_ns;
    return utc_offset_ns == INT64_MIN ? TIMEBASE_E_REFERENCE : TIMEBASE_OK;
}

static int open_at_fake(struct chrony *chrony)
{
    char argument[128];
    snprintf(argument, sizeof(argument), "127.0.0.1:%u,interval=1ms", fake_chronyd.port);
    return stepped_driver.open(chrony, fake_chronyd.path[0] != '\0' ? fake_chronyd.path : argument);
}

/* The question goes out, and the answer is heard when it is asked for again. */
static int be_answered(struct chrony *chrony, struct claim *claim)
{
    stepped_driver.claim(chrony, claim);
    while (!chrony->is_waiting) /* not due yet */
        stepped_driver.claim(chrony, claim);
    assert_true(take_newest_question());
    give_answer(6, 0);
    return stepped_driver.claim(chrony, claim);
}

/* A driver that has asked, and whose answer has come and is not heard yet. */
static void begin_answered(struct chrony *chrony)
{
    struct claim claim;
    listen_udp();
    assert_int_equal(open_at_fake(chrony), TIMEBASE_OK);
    assert_int_equal(stepped_driver.claim(chrony, &claim), TIMEBASE_E_BUSY);
    assert_true(take_newest_question());
    give_answer(6, 0);
}

static void an_answer_is_dated_from_its_question(void **state)
{
    struct chrony chrony;
    struct claim claim;
    (void)state;
    listen_local();
    assert_int_equal(open_at_fake(&chrony), TIMEBASE_OK);
    int64_t before_ns = counter_clock_ns(CLOCK_MONOTONIC);
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_E_BUSY);
    assert_non_null(source_reason(&chrony));
    int64_t after_ns = counter_clock_ns(CLOCK_MONOTONIC);
    assert_true(take_question());
    assert_true(stepped_driver.fd(&chrony) >= 0); /* an answer is due */
    give_answer(6, 0);
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_OK);
    assert_int_equal(stepped_driver.fd(&chrony), -1);
    assert_true(before_ns <= claim.mono_ns && claim.mono_ns <= after_ns);
    assert_true(claim.offset_ns == -250000000);
    assert_true(claim.measured_ns < 0); /* the fake has measured in 1970 */
    stepped_driver.close(&chrony);
    hang_up();
}

static void one_question_is_out_at_a_time(void **state)
{
    struct chrony chrony;
    struct claim claim;
    (void)state;
    listen_udp();
    assert_int_equal(open_at_fake(&chrony), TIMEBASE_OK);
    for (int i = 0; i < 5; i++)
        assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_E_BUSY);
    assert_true(take_question());
    assert_false(take_question());
    stepped_driver.close(&chrony);
    hang_up();
}

static void silence_ends_in_a_reason(void **state)
{
    struct chrony chrony;
    struct claim claim;
    (void)state;
    listen_udp();
    assert_int_equal(open_at_fake(&chrony), TIMEBASE_OK);
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_E_BUSY);
    chrony.asked_ns -= TIMEOUT_NS + 1;
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_E_STALE);
    assert_non_null(strstr(source_reason(&chrony), "within a second"));
    hang_up();
    chrony.next_ns = 0;
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(source_reason(&chrony), "cmdport 0"));
    stepped_driver.close(&chrony);
}

/* The next question is due at once, and finds nobody: the answer is told all the same. */
static void a_late_answer_is_told_before_anything_is_asked(void **state)
{
    struct chrony chrony;
    struct claim claim;
    (void)state;
    begin_answered(&chrony);
    chrony.interval_ns = 0;
    hang_up();
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_OK);
    assert_true(claim.offset_ns == -250000000);
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_E_REFERENCE);
    stepped_driver.close(&chrony);
}

/* Its socket, then the loopback: the next at once where one refuses, and all of them later. */
static void all_usual_places_are_tried(void **state)
{
    struct chrony chrony;
    (void)state;
    assert_int_equal(stepped_driver.open(&chrony, NULL), TIMEBASE_OK);
    for (unsigned i = 0; i < USUAL_HOSTS; i++) {
        assert_int_equal(chrony.which, i);
        assert_int_equal(chrony.outcome, TIMEBASE_E_BUSY);
        give_up_place(&chrony, 5000, TIMEBASE_E_REFERENCE);
        assert_true(chrony.next_ns == (i + 1 < USUAL_HOSTS ? 5000 : 5000 + RETRY_NS));
    }
    assert_int_equal(chrony.which, 0);
    assert_int_equal(chrony.outcome, TIMEBASE_E_REFERENCE);
    stepped_driver.close(&chrony);
}

static void what_was_said_before_a_step_is_not_said_after_it(void **state)
{
    struct chrony chrony;
    struct claim claim;
    (void)state;
    listen_udp();
    assert_int_equal(open_at_fake(&chrony), TIMEBASE_OK);
    assert_int_equal(be_answered(&chrony, &claim), TIMEBASE_OK);
    int64_t first_ns = claim.mono_ns;
    utc_offset_ns -= 250000000;
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_E_DISRUPTED);
    assert_non_null(source_reason(&chrony));
    assert_true(chrony.is_waiting); /* it has asked at once */
    assert_true(take_newest_question());
    give_answer(6, 0);
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_OK);
    assert_true(claim.mono_ns > first_ns);
    stepped_driver.close(&chrony);
    hang_up();
}

static void a_step_while_it_is_asked_is_asked_about_again(void **state)
{
    struct chrony chrony;
    struct claim claim;
    (void)state;
    begin_answered(&chrony);
    utc_offset_ns += 1000000000;
    /* The answer is there, and void. */
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_E_DISRUPTED);
    assert_true(take_newest_question());
    give_answer(6, 0);
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_OK);
    stepped_driver.close(&chrony);
    hang_up();
}

static void a_clock_that_cannot_be_read_is_no_answer(void **state)
{
    struct chrony chrony;
    struct claim claim;
    int64_t kept_ns = utc_offset_ns;
    (void)state;
    assert_int_equal(stepped_driver.open(&chrony, NULL), TIMEBASE_OK);
    utc_offset_ns = INT64_MIN;
    assert_int_equal(stepped_driver.claim(&chrony, &claim), TIMEBASE_E_REFERENCE);
    utc_offset_ns = kept_ns;
    stepped_driver.close(&chrony);
}

static void assert_refused(const char *argument)
{
    struct chrony chrony;
    assert_int_equal(stepped_driver.open(&chrony, argument), TIMEBASE_E_INVALID);
    assert_non_null(chrony.reason);
}

static void arguments_are_looked_at(void **state)
{
    struct chrony chrony;
    (void)state;
    assert_int_equal(stepped_driver.open(&chrony, "[::1]:4000,interval=2s"), TIMEBASE_OK);
    assert_string_equal(chrony.host, "::1");
    assert_int_equal(chrony.port, 4000);
    assert_true(chrony.interval_ns == 2000000000);
    assert_int_equal(stepped_driver.open(&chrony, "/run/chrony/chronyd.sock"), TIMEBASE_OK);
    assert_int_equal(stepped_driver.open(&chrony, ",interval=1s"), TIMEBASE_OK);
    assert_string_equal(chrony.host, "");
    assert_refused("example.org"); /* a name server may take for ever */
    assert_refused("127.0.0.1:0");
    assert_refused("127.0.0.1:65536");
    assert_refused("127.0.0.1:x");
    assert_refused("[::1");
    assert_refused("[::1]x");
    assert_refused("");
    assert_refused("127.0.0.1,interval=0s");
    assert_refused("127.0.0.1,interval=1");
    assert_refused("127.0.0.1,poll=1s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_dated_from_its_question),
        cmocka_unit_test(one_question_is_out_at_a_time),
        cmocka_unit_test(silence_ends_in_a_reason),
        cmocka_unit_test(a_late_answer_is_told_before_anything_is_asked),
        cmocka_unit_test(all_usual_places_are_tried),
        cmocka_unit_test(what_was_said_before_a_step_is_not_said_after_it),
        cmocka_unit_test(a_step_while_it_is_asked_is_asked_about_again),
        cmocka_unit_test(a_clock_that_cannot_be_read_is_no_answer),
        cmocka_unit_test(arguments_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
