/* SPDX-License-Identifier: MIT */
/* A step of the system clock between two answers of chrony; the step is the test's own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static int stepped_utc_offset(int64_t *offset_ns);

/* The driver itself, with its view of UTC in our hands. */
#undef fail /* of cmocka: the driver has one of its own */
#define reference_utc_offset stepped_utc_offset
#define reference_source_chrony stepped_source_chrony
#include "daemon/sources/drivers.h"
#include "clock/reference/reference.h"
#include "daemon/sources/chrony.c"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t utc_offset_ns = 1795000000000000000;
static char path[] = "/tmp/timebase-chrony-step-XXXXXX";

static int stepped_utc_offset(int64_t *offset_ns)
{
    *offset_ns = utc_offset_ns;
    return utc_offset_ns == INT64_MIN ? TIMEBASE_E_REFERENCE : TIMEBASE_OK;
}

static int make_script(void **state)
{
    int fd = mkstemp(path);
    (void)state;
    if (fd < 0)
        return -1;
    dprintf(fd,
            "#!/bin/sh\necho 7F000001,h,2,1795274325.5,-0.25,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,"
            "Normal\n");
    return fchmod(fd, 0700) | close(fd);
}

static int remove_script(void **state)
{
    (void)state;
    return unlink(path);
}

static int ask(struct chrony *chrony, struct reference_claim *claim)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (;;) {
        int error = stepped_source_chrony.claim(chrony, claim);
        if (error != TIMEBASE_E_BUSY)
            return error;
        nanosleep(&pause, NULL);
    }
}

static void what_was_said_before_a_step_is_not_said_after_it(void **state)
{
    const char *const programs[] = {path, NULL};
    const struct timespec pause = {.tv_nsec = 1000000};
    struct chrony chrony;
    struct reference_claim claim;
    (void)state;
    chrony_set_programs(programs);
    assert_int_equal(stepped_source_chrony.open(&chrony, NULL), TIMEBASE_OK);
    assert_int_equal(ask(&chrony, &claim), TIMEBASE_OK);
    int64_t first_ns = claim.mono_ns;
    utc_offset_ns -= 250000000;
    assert_int_equal(ask(&chrony, &claim), TIMEBASE_E_DISRUPTED);
    assert_non_null(reference_reason(&chrony));
    /* It asks at once, not after its interval of 16 seconds. */
    assert_true(chrony.client.pid != 0);
    while (ask(&chrony, &claim) != TIMEBASE_OK)
        nanosleep(&pause, NULL);
    assert_true(claim.mono_ns > first_ns);
    stepped_source_chrony.close(&chrony);
    chrony_set_programs(NULL);
}

static void a_step_while_it_is_asked_is_asked_about_again(void **state)
{
    const char *const programs[] = {path, NULL};
    struct chrony chrony;
    struct reference_claim claim;
    (void)state;
    chrony_set_programs(programs);
    assert_int_equal(stepped_source_chrony.open(&chrony, NULL), TIMEBASE_OK);
    assert_int_equal(stepped_source_chrony.claim(&chrony, &claim), TIMEBASE_E_BUSY);
    int64_t started_ns = chrony.started_ns;
    utc_offset_ns += 1000000000;
    assert_int_equal(stepped_source_chrony.claim(&chrony, &claim), TIMEBASE_E_DISRUPTED);
    assert_true(chrony.started_ns > started_ns);
    stepped_source_chrony.close(&chrony);
    chrony_set_programs(NULL);
}

static void a_clock_that_cannot_be_read_is_no_answer(void **state)
{
    struct chrony chrony;
    struct reference_claim claim;
    (void)state;
    assert_int_equal(stepped_source_chrony.open(&chrony, NULL), TIMEBASE_OK);
    utc_offset_ns = INT64_MIN;
    assert_int_equal(stepped_source_chrony.claim(&chrony, &claim), TIMEBASE_E_REFERENCE);
    stepped_source_chrony.close(&chrony);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_said_before_a_step_is_not_said_after_it),
        cmocka_unit_test(a_step_while_it_is_asked_is_asked_about_again),
        cmocka_unit_test(a_clock_that_cannot_be_read_is_no_answer),
    };
    return cmocka_run_group_tests(tests, make_script, remove_script);
}
