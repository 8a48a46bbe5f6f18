/* SPDX-License-Identifier: MIT */
/*
 * The 2007 article's reader repeats while an update is under way: its condition was `and` where
 * `or` is needed. An update interrupted in the middle shows the difference without any threads'
 * luck: a reader waits for its end, which here a timer's signal brings.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

#include "../../measure/tb_nano_2007.h"

/* No ticks in a length of 0: the time is the stamp, whatever the counter says. */
#define OLD_XSEC ((uint64_t)1000 << 20)
#define NEW_XSEC ((uint64_t)2000 << 20)
#define WAIT_US 20000

static struct systemcfg_2007 cfg;
static volatile sig_atomic_t ended;

static void end_update(int signal)
{
    (void)signal;
    timebase_page_set_word(&cfg.stamp_xsec, NEW_XSEC);
    __atomic_store_n(&cfg.tb_update_count, 2, __ATOMIC_RELEASE);
    ended = 1;
}

static void end_update_soon(void)
{
    struct sigaction action;
    struct itimerval once = {{0, 0}, {0, WAIT_US}};
    memset(&action, 0, sizeof action);
    action.sa_handler = end_update;
    ended = 0;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &once, NULL), 0);
}

static void begin_with(uint32_t count)
{
    struct systemcfg_2007 made = {0, 0, OLD_XSEC, count};
    cfg = made;
}

static void between_updates_the_time_is_read_at_once(void **state)
{
    (void)state;
    begin_with(2);
    assert_true(systemcfg_2007_xsec(&cfg) == OLD_XSEC);
    assert_true(tb_nano_2007(&cfg) == 1000000000000);
}

static void a_reader_waits_for_the_end_of_an_update(void **state)
{
    (void)state;
    begin_with(1);
    end_update_soon();
    uint64_t xsec = systemcfg_2007_xsec(&cfg);
    assert_true(ended);
    assert_true(xsec == NEW_XSEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_updates_the_time_is_read_at_once),
        cmocka_unit_test(a_reader_waits_for_the_end_of_an_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
