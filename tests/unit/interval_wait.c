/* SPDX-License-Identifier: MIT */
/* The two waits, on a clock whose reference claims what the test wants it to. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/time.h>

#include <timebase/error.h>
#include <timebase/interval.h>

#include "clock/own/own.h"

#define MS 1000000

static int64_t claimed_ns;
static bool is_claimed;
static bool is_vouched_for = true;
static int samples_to_go; /* until the claim is what it is; before, an hour */

static int sample_claim(void *context, struct discipline_sample *sample)
{
    int error = reference_kernel.sample(context, sample);
    sample->maxerror_ns = samples_to_go > 0 ? 3600 * (int64_t)1000000000 : claimed_ns;
    samples_to_go -= samples_to_go > 0;
    sample->maxerror_ppb = 0;
    sample->is_synchronized = is_claimed;
    sample->flags &= is_vouched_for ? ~(uint32_t)TIMEBASE_LINE_ESTIMATE : ~(uint32_t)0;
    return error;
}

static int moment(void *context, struct reference_moment *out)
{
    int error = reference_kernel.moment(context, out);
    out->flags &= is_vouched_for ? ~(uint32_t)TIMEBASE_LINE_ESTIMATE : ~(uint32_t)0;
    return error;
}

static void close_nothing(void *context)
{
    (void)context;
}

static const struct reference claiming = {"claiming", sample_claim, moment, close_nothing};
static struct reference_kernel kernel;

static struct own_clock clock_claiming(int64_t maxerror_ns, bool is_synchronized)
{
    struct own_clock own = OWN_CLOCK_INITIALIZER(&claiming, &kernel);
    claimed_ns = maxerror_ns;
    is_claimed = is_synchronized;
    samples_to_go = 0;
    return own;
}

static int64_t in(const timebase_clock *clock, int64_t ns)
{
    return timebase_mono_ns(clock) + ns;
}

static void the_bound_is_waited_for(void **state)
{
    struct own_clock own = clock_claiming(2 * MS, true);
    const timebase_clock *clock = own_handle(&own);
    struct timebase_interval seen;
    (void)state;
    samples_to_go = 6;
    assert_int_equal(timebase_clock_wait_bound(clock, 3 * MS, TIMEBASE_NO_DEADLINE, &seen), 0);
    assert_in_range(timebase_interval_width_ns(&seen), 4 * MS, 6 * MS);
    assert_int_equal(timebase_clock_wait_bound(clock, 3 * MS, 0, NULL), 0); /* one look */
}

static void a_bound_that_does_not_come_ends_at_the_deadline(void **state)
{
    struct own_clock own = clock_claiming(2 * MS, true);
    const timebase_clock *clock = own_handle(&own);
    struct timebase_interval seen = {1, 0};
    (void)state;
    assert_int_equal(timebase_clock_wait_bound(clock, 4 * MS, TIMEBASE_NO_DEADLINE, NULL), 0);
    int64_t deadline = in(clock, 20 * MS);
    assert_int_equal(timebase_clock_wait_bound(clock, MS, deadline, &seen), TIMEBASE_E_TIMEOUT);
    assert_true(timebase_mono_ns(clock) >= deadline);
    assert_true(timebase_interval_width_ns(&seen) >= 4 * MS);
}

static void a_clock_that_promises_nothing_is_stale(void **state)
{
    struct own_clock own = clock_claiming(10, false);
    const timebase_clock *clock = own_handle(&own);
    (void)state;
    assert_int_equal(timebase_clock_wait_bound(clock, UINT64_MAX, in(clock, 5 * MS), NULL),
                     TIMEBASE_E_STALE);
    assert_int_equal(timebase_clock_wait_after(clock, 0, in(clock, 5 * MS)), TIMEBASE_E_STALE);
}

/* Whatever its width and its status, and however long one is ready to wait. */
static void an_estimate_is_refused_at_once(void **state)
{
    (void)state;
    is_vouched_for = false;
    for (int synchronized = 0; synchronized <= 1; synchronized++) {
        struct own_clock own = clock_claiming(10, synchronized);
        const timebase_clock *clock = own_handle(&own);
        struct timebase_interval seen = {1, 0};
        timebase_clock_maintain(clock);
        assert_int_equal(timebase_clock_wait_after(clock, 0, in(clock, 0)), TIMEBASE_E_ESTIMATE);
        assert_int_equal(timebase_clock_wait_bound(clock, UINT64_MAX, TIMEBASE_NO_DEADLINE, &seen),
                         TIMEBASE_E_ESTIMATE);
        assert_false(timebase_interval_is_empty(&seen));
        assert_int_equal(timebase_clock_wait_after(clock, 0, TIMEBASE_NO_DEADLINE),
                         TIMEBASE_E_ESTIMATE);
    }
    is_vouched_for = true;
}

static void after_a_commit_wait_the_time_is_certainly_past(void **state)
{
    struct own_clock own = clock_claiming(2 * MS, true);
    const timebase_clock *clock = own_handle(&own);
    struct timebase_interval commit, later;
    (void)state;
    timebase_clock_wait_bound(clock, 3 * MS, TIMEBASE_NO_DEADLINE, &commit);
    assert_int_equal(timebase_clock_wait_after(clock, commit.latest_ns, TIMEBASE_NO_DEADLINE), 0);
    timebase_utc_interval(clock, &later);
    assert_true(later.earliest_ns > commit.latest_ns);
    assert_true(timebase_interval_before(&commit, &later));
    assert_int_equal(timebase_clock_wait_after(clock, commit.latest_ns, INT64_MIN), 0);
}

static void a_time_far_off_ends_at_the_deadline(void **state)
{
    struct own_clock own = clock_claiming(2 * MS, true);
    const timebase_clock *clock = own_handle(&own);
    (void)state;
    timebase_clock_wait_bound(clock, 3 * MS, TIMEBASE_NO_DEADLINE, NULL);
    int64_t deadline = in(clock, 5 * MS);
    assert_int_equal(timebase_clock_wait_after(clock, INT64_MAX, deadline), TIMEBASE_E_TIMEOUT);
    assert_true(timebase_mono_ns(clock) >= deadline);
}

static volatile sig_atomic_t alarms;

static void count(int signal)
{
    (void)signal;
    alarms++;
}

/* A wait takes 20 ms, unless the thread was held up for so long before it. */
static void signals_do_not_end_a_wait(void **state)
{
    const int waits_max = 1000;
    struct own_clock own = clock_claiming(10 * MS, true);
    const timebase_clock *clock = own_handle(&own);
    struct timebase_interval commit, later;
    struct sigaction action = {.sa_handler = count};
    struct itimerval every_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    (void)state;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every_ms, NULL);
    for (int waits = 0; waits < waits_max && alarms == 0; waits++) {
        timebase_clock_wait_bound(clock, 11 * MS, TIMEBASE_NO_DEADLINE, &commit);
        alarms = 0;
        assert_int_equal(timebase_clock_wait_after(clock, commit.latest_ns, TIMEBASE_NO_DEADLINE),
                         0);
        timebase_utc_interval(clock, &later);
        assert_true(timebase_interval_before(&commit, &later));
    }
    setitimer(ITIMER_REAL, &never, NULL);
    assert_true(alarms > 0);
}

static int no_sample(void *context, struct discipline_sample *sample)
{
    (void)context;
    (void)sample;
    return TIMEBASE_E_REFERENCE;
}

static int no_moment(void *context, struct reference_moment *out)
{
    (void)context;
    (void)out;
    return TIMEBASE_E_REFERENCE;
}

static const struct reference silent = {"silent", no_sample, no_moment, close_nothing};

/* Neither lines nor a reference: the time is 0, and no deadline is ever reached by it. */
static void a_clock_without_a_time_waits_for_no_deadline(void **state)
{
    struct own_clock own = OWN_CLOCK_INITIALIZER(&silent, NULL);
    const timebase_clock *clock = own_handle(&own);
    struct timebase_interval seen;
    (void)state;
    assert_int_equal(timebase_clock_wait_bound(clock, MS, MS, &seen), TIMEBASE_E_STALE);
    assert_true(timebase_interval_width_ns(&seen) >= (uint64_t)1 << 61);
    assert_int_equal(timebase_clock_wait_after(clock, 0, MS), TIMEBASE_E_STALE);
}

static void a_null_clock_is_invalid(void **state)
{
    (void)state;
    assert_int_equal(timebase_clock_wait_bound(NULL, 0, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_clock_wait_after(NULL, 0, 0), TIMEBASE_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_is_waited_for),
        cmocka_unit_test(a_bound_that_does_not_come_ends_at_the_deadline),
        cmocka_unit_test(a_clock_that_promises_nothing_is_stale),
        cmocka_unit_test(an_estimate_is_refused_at_once),
        cmocka_unit_test(after_a_commit_wait_the_time_is_certainly_past),
        cmocka_unit_test(a_time_far_off_ends_at_the_deadline),
        cmocka_unit_test(signals_do_not_end_a_wait),
        cmocka_unit_test(a_clock_without_a_time_waits_for_no_deadline),
        cmocka_unit_test(a_null_clock_is_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
