/* SPDX-License-Identifier: MIT */
/*
 * Exact waits are better than plain ones: by the waiter's own calibration, the best of some, on
 * x86-64 hardware. How much better is for `timebase accuracy` to measure.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <time.h>

#include "../emulated.h"
#include "../unit/waiting.h"
#include "skipped.h"

#define CALIBRATIONS 400 /* any of which a shared machine may spoil */
#define PAUSE_NS 100000000

/* Why there is nothing to compare here; NULL: there is. */
static const char *reason_not_to(void)
{
#if !defined(__x86_64__)
    return "only x86-64 has been measured";
#else
    if (is_emulated())
        return "emulated: instructions take any time";
    if (timebase_counter_id() == TIMEBASE_COUNTER_OS)
        return "the processor's counter cannot be read here";
    return NULL;
#endif
}

static void skip_where_there_is_nothing_to_compare(void)
{
    if (reason_not_to() != NULL)
        skip_because(reason_not_to());
}

static void the_best_calibration_is_exact(void **state)
{
    int exact = 0;
    (void)state;
    skip_where_there_is_nothing_to_compare();
    for (int i = 0; i < CALIBRATIONS && !exact; i++) {
        exact = description_of(the_waiter()).mechanism > TIMEBASE_MECHANISM_LOOP;
        timebase_waiter_calibrate(the_waiter());
    }
    assert_true(exact);
}

/* Of one calibration; 0: none, for this one found nothing exact. */
static double spread_of_exact_to_plain(void)
{
    assert_int_equal(timebase_waiter_calibrate(the_waiter()), 0);
    struct timebase_waiter_description d = description_of(the_waiter());
    return d.mechanism == TIMEBASE_MECHANISM_LOOP ? 0 : d.exact_spread_ns / d.plain_spread_ns;
}

/* Whoever shares the core may be busy for seconds: try now and then, until one shows it. */
static void exact_waits_spread_less_than_plain_ones(void **state)
{
    double best = HUGE_VAL;
    (void)state;
    skip_where_there_is_nothing_to_compare();
    for (int i = 0; i < CALIBRATIONS && best >= 1; i++) {
        double spread = spread_of_exact_to_plain();
        best = spread > 0 && spread < best ? spread : best;
        if (best >= 1)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    print_message("spread of exact waits / of plain ones: %.2f\n", best);
    assert_true(best < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_calibration_is_exact),
        cmocka_unit_test(exact_waits_spread_less_than_plain_ones),
    };
    return run_all(tests);
}
