/* SPDX-License-Identifier: MIT */
/* What the loop waits for, and that it does wait. */
#include "cmocka_first.h"

#include <signal.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/wake.h"

/* The kernel takes no time later than this for CLOCK_REALTIME (TIME_SETTOD_SEC_MAX): 2232. */
#define LATEST_SEC INT64_C(8277292036)

static struct wake wake;

static int begin(void **state)
{
    struct problem problem;
    (void)state;
    return wake_open(&wake, &problem);
}

static int end(void **state)
{
    (void)state;
    wake_close(&wake);
    return 0;
}

/* A timer that is over is readable, and armed again, over again: the loop would never rest. */
static void the_timer_on_the_clock_is_never_over(void **state)
{
    struct itimerspec left;
    (void)state;
    if (sizeof(time_t) < 8)
        skip();
    assert_true(wake.clock_fd >= 0);
    assert_int_equal(timerfd_gettime(wake.clock_fd, &left), 0);
    assert_true((int64_t)time(NULL) + left.it_value.tv_sec > LATEST_SEC);
}

static void signals_are_reasons(void **state)
{
    (void)state;
    kill(getpid(), SIGHUP);
    assert_int_equal(wake_wait(&wake, 0, NULL, 0), WAKE_RELOAD);
    kill(getpid(), SIGTERM);
    assert_int_equal(wake_wait(&wake, 0, NULL, 0), WAKE_END);
    assert_int_equal(wake_wait(&wake, 0, NULL, 0), WAKE_TIME);
}

/* It would sleep for an hour if the pipe did not wake it. */
static void news_of_a_source_is_a_reason_and_names_its_descriptor(void **state)
{
    int quiet[2], loud[2];
    (void)state;
    assert_int_equal(pipe(quiet) | pipe(loud), 0);
    int fds[] = {quiet[0], loud[0]};
    assert_int_equal(wake_wait(&wake, 0, fds, 2), WAKE_TIME);
    assert_int_equal(fds[0], -1);
    assert_int_equal(fds[1], -1);
    assert_int_equal(write(loud[1], "", 1), 1);
    fds[0] = quiet[0];
    fds[1] = loud[0];
    assert_int_equal(wake_wait(&wake, UINT64_C(3600000000000), fds, 2), WAKE_NEWS);
    assert_int_equal(fds[0], -1);
    assert_int_equal(fds[1], loud[0]);
    close(quiet[1]); /* an end of file is news too */
    fds[0] = quiet[0];
    assert_int_equal(wake_wait(&wake, UINT64_C(3600000000000), fds, 1), WAKE_NEWS);
    assert_int_equal(fds[0], quiet[0]);
    close(quiet[0]);
    close(loud[0]);
    close(loud[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_timer_on_the_clock_is_never_over, begin, end),
        cmocka_unit_test_setup_teardown(signals_are_reasons, begin, end),
        cmocka_unit_test_setup_teardown(news_of_a_source_is_a_reason_and_names_its_descriptor,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
