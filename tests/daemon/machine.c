/* SPDX-License-Identifier: MIT */
/* What befalls the machine, from a made-up /sys. */
#include "cmocka_first.h"

#include "clock/counter/probe.h"
#include "daemon/log.h"
#include "daemon/disturbance.h"
#include "folder.h"

#define SECOND INT64_C(1000000000)

static struct machine machine;

static void set_clocksource(const char *name)
{
    char path[200] = "";
    const char *const parts[] = {"sys", "devices", "system", "clocksource", "clocksource0"};
    size_t used = (size_t)snprintf(path, sizeof(path), "%s", folder);
    for (size_t i = 0; i < 5; i++) {
        used += (size_t)snprintf(path + used, sizeof(path) - used, "/%s", parts[i]);
        mkdir(path, 0755);
    }
    snprintf(path + used, sizeof(path) - used, "/current_clocksource");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", name);
    fclose(file);
    counter_set_root(folder);
}

static void a_change_of_clocksource_is_seen_once(void **state)
{
    (void)state;
    set_clocksource("tsc");
    machine_start(&machine, SECOND);
    assert_string_equal(machine.clocksource, "tsc");
    set_clocksource("hpet");
    assert_false(machine_clocksource_changed(&machine, 2 * SECOND)); /* not looked at yet */
    assert_true(machine_clocksource_changed(&machine, 6 * SECOND));
    assert_false(machine_clocksource_changed(&machine, 12 * SECOND));
    assert_int_equal(machine.clocksource_changes, 1);
}

static void a_file_that_goes_away_is_no_change(void **state)
{
    (void)state;
    set_clocksource("tsc");
    machine_start(&machine, 0);
    counter_set_root("/nonexistent");
    assert_false(machine_clocksource_changed(&machine, 10 * SECOND));
    machine_start(&machine, 0);
    set_clocksource("tsc");
    assert_false(machine_clocksource_changed(&machine, 20 * SECOND));
}

static void a_second_late_is_a_stall(void **state)
{
    (void)state;
    machine_start(&machine, 0);
    assert_false(machine_stalled(&machine, 5 * SECOND, 4 * SECOND));
    assert_false(machine_stalled(&machine, 5 * SECOND, 6 * SECOND - 1));
    assert_true(machine_stalled(&machine, 5 * SECOND, 6 * SECOND));
    assert_int_equal(machine.stalls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_clocksource_is_seen_once),
        cmocka_unit_test(a_file_that_goes_away_is_no_change),
        cmocka_unit_test(a_second_late_is_a_stall),
    };
    log_set_level(0);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
