/* SPDX-License-Identifier: MIT */
/* What befalls the machine, from a made-up /sys. */
#include "cmocka_first.h"

#include "clock/counter/probe.h"
#include "daemon/log.h"
#include "daemon/disturbance.h"
#include "folder.h"

#define SECOND INT64_C(1000000000)

static struct disturbance disturbance;

static void write_file(const char *of, const char *name, const char *line)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", of, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

static void set_clocksources(const char *name, const char *available)
{
    char path[200] = "";
    const char *const parts[] = {"sys", "devices", "system", "clocksource", "clocksource0"};
    size_t used = (size_t)snprintf(path, sizeof(path), "%s", folder);
    for (size_t i = 0; i < 5; i++) {
        used += (size_t)snprintf(path + used, sizeof(path) - used, "/%s", parts[i]);
        mkdir(path, 0755);
    }
    write_file(path, "current_clocksource", name);
    write_file(path, "available_clocksource", available);
    counter_set_root(folder);
}

static void set_clocksource(const char *name)
{
    set_clocksources(name, "tsc hpet acpi_pm");
}

static void a_change_of_clocksource_is_seen_once(void **state)
{
    (void)state;
    set_clocksource("tsc");
    disturbance_start(&disturbance, TIMEBASE_COUNTER_X86_TSC, SECOND);
    assert_string_equal(disturbance.clocksource, "tsc");
    set_clocksource("hpet");
    assert_false(disturbance_clocksource_changed(&disturbance, 2 * SECOND)); /* not looked at yet */
    assert_true(disturbance_clocksource_changed(&disturbance, 6 * SECOND));
    assert_false(disturbance_clocksource_changed(&disturbance, 12 * SECOND));
    assert_int_equal(disturbance.clocksource_changes, 1);
}

static void a_file_that_goes_away_is_no_change(void **state)
{
    (void)state;
    set_clocksource("tsc");
    disturbance_start(&disturbance, TIMEBASE_COUNTER_X86_TSC, 0);
    counter_set_root("/nonexistent");
    assert_false(disturbance_clocksource_changed(&disturbance, 10 * SECOND));
    disturbance_start(&disturbance, TIMEBASE_COUNTER_X86_TSC, 0);
    set_clocksource("tsc");
    assert_false(disturbance_clocksource_changed(&disturbance, 20 * SECOND));
}

static bool distrusts(int counter_id, const char *current, const char *available)
{
    set_clocksources(current, available);
    disturbance_start(&disturbance, counter_id, 0);
    return disturbance_kernel_distrusts(&disturbance);
}

static void a_kernel_on_another_counter_distrusts_this_one(void **state)
{
    (void)state;
    assert_false(distrusts(TIMEBASE_COUNTER_X86_TSC, "tsc", "tsc hpet acpi_pm"));
    assert_true(distrusts(TIMEBASE_COUNTER_X86_TSC, "hpet", "tsc hpet acpi_pm"));
    assert_true(distrusts(TIMEBASE_COUNTER_X86_TSC, "acpi_pm", "acpi_pm")); /* struck off */
    assert_false(distrusts(TIMEBASE_COUNTER_X86_TSC, "kvm-clock", "kvm-clock tsc acpi_pm"));
    assert_false(distrusts(TIMEBASE_COUNTER_X86_TSC, "hyperv_clocksource_tsc_page",
                           "hyperv_clocksource_tsc_page hyperv_clocksource_msr acpi_pm"));
    assert_true(distrusts(TIMEBASE_COUNTER_X86_TSC, "hyperv_clocksource_msr",
                          "hyperv_clocksource_msr acpi_pm"));
    assert_false(distrusts(TIMEBASE_COUNTER_ARM_VCNT, "arch_sys_counter", "arch_sys_counter"));
    assert_true(distrusts(TIMEBASE_COUNTER_ARM_VCNT, "timer0", "arch_sys_counter timer0"));
    assert_false(distrusts(TIMEBASE_COUNTER_OS, "hpet", "hpet"));
}

/* Not for a moment: for as long as it lasts. */
static void distrust_lasts_until_the_kernel_is_back_on_the_counter(void **state)
{
    (void)state;
    set_clocksource("tsc");
    disturbance_start(&disturbance, TIMEBASE_COUNTER_X86_TSC, 0);
    set_clocksource("hpet");
    assert_true(disturbance_clocksource_changed(&disturbance, 5 * SECOND));
    for (int64_t now_ns = 10 * SECOND; now_ns < 3600 * SECOND; now_ns += 100 * SECOND) {
        assert_false(disturbance_clocksource_changed(&disturbance, now_ns));
        assert_true(disturbance_kernel_distrusts(&disturbance));
    }
    counter_set_root("/nonexistent"); /* nobody says otherwise */
    assert_false(disturbance_clocksource_changed(&disturbance, 4000 * SECOND));
    assert_true(disturbance_kernel_distrusts(&disturbance));
    set_clocksource("tsc");
    assert_true(disturbance_clocksource_changed(&disturbance, 5000 * SECOND));
    assert_false(disturbance_kernel_distrusts(&disturbance));
}

static void a_list_that_loses_the_counter_is_read_again(void **state)
{
    (void)state;
    set_clocksources("timer0", "timer0");
    disturbance_start(&disturbance, TIMEBASE_COUNTER_ARM_VCNT, 0);
    assert_false(disturbance_kernel_distrusts(&disturbance)); /* another machine's, perhaps */
    set_clocksources("timer0", "timer0 arch_sys_counter");
    assert_false(disturbance_clocksource_changed(&disturbance, 5 * SECOND));
    assert_true(disturbance_kernel_distrusts(&disturbance));
}

static void a_second_late_is_a_stall(void **state)
{
    (void)state;
    disturbance_start(&disturbance, TIMEBASE_COUNTER_X86_TSC, 0);
    assert_false(disturbance_stalled(&disturbance, 5 * SECOND, 4 * SECOND));
    assert_false(disturbance_stalled(&disturbance, 5 * SECOND, 6 * SECOND - 1));
    assert_true(disturbance_stalled(&disturbance, 5 * SECOND, 6 * SECOND));
    assert_int_equal(disturbance.stalls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_clocksource_is_seen_once),
        cmocka_unit_test(a_file_that_goes_away_is_no_change),
        cmocka_unit_test(a_kernel_on_another_counter_distrusts_this_one),
        cmocka_unit_test(distrust_lasts_until_the_kernel_is_back_on_the_counter),
        cmocka_unit_test(a_list_that_loses_the_counter_is_read_again),
        cmocka_unit_test(a_second_late_is_a_stall),
    };
    log_set_level(0);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
