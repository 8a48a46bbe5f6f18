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
    assert_int_equal(wake_wait(&wake, 0), WAKE_RELOAD);
    kill(getpid(), SIGTERM);
    assert_int_equal(wake_wait(&wake, 0), WAKE_END);
    assert_int_equal(wake_wait(&wake, 0), WAKE_TIME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_timer_on_the_clock_is_never_over, begin, end),
        cmocka_unit_test_setup_teardown(signals_are_reasons, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
