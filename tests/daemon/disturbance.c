/* SPDX-License-Identifier: MIT */
/* What befalls the machine, as it is made up here. */
#include "cmocka_first.h"

#include <stdio.h>

#include "daemon/log.h"
#include "daemon/disturbance.h"

#define SECOND INT64_C(1000000000)

static struct disturbance disturbance;

static struct counter_clocksource on(const char *name)
{
    struct counter_clocksource seen = {.available = "tsc hpet acpi_pm"};
    snprintf(seen.current, sizeof(seen.current), "%s", name);
    return seen;
}

static void start(const char *name)
{
    const struct counter_clocksource seen = on(name);
    disturbance_start(&disturbance, TIMEBASE_COUNTER_X86_TSC, &seen);
}

static bool changed(const char *name)
{
    const struct counter_clocksource seen = on(name);
    return disturbance_clocksource_changed(&disturbance, &seen);
}

static void a_change_of_clocksource_is_told_once(void **state)
{
    (void)state;
    start("tsc");
    assert_false(changed("tsc"));
    assert_true(changed("hpet"));
    assert_false(changed("hpet"));
    assert_true(changed("tsc"));
    assert_int_equal(disturbance.clocksource_changes, 2);
}

static void a_clocksource_that_is_seen_for_the_first_time_is_no_change(void **state)
{
    (void)state;
    start("");
    assert_false(changed(""));
    assert_false(changed("tsc"));
    assert_int_equal(disturbance.clocksource_changes, 0);
    assert_true(changed("hpet"));
}

static void a_second_late_is_a_stall(void **state)
{
    (void)state;
    start("tsc");
    assert_false(disturbance_stalled(&disturbance, 5 * SECOND, 4 * SECOND));
    assert_false(disturbance_stalled(&disturbance, 5 * SECOND, 6 * SECOND - 1));
    assert_true(disturbance_stalled(&disturbance, 5 * SECOND, 6 * SECOND));
    assert_int_equal(disturbance.stalls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_clocksource_is_told_once),
        cmocka_unit_test(a_clocksource_that_is_seen_for_the_first_time_is_no_change),
        cmocka_unit_test(a_second_late_is_a_stall),
    };
    log_set_level(0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
