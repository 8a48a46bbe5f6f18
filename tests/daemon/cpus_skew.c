/* SPDX-License-Identifier: MIT */
/* What readers are promised on CPUs that were compared, and on those that were not. */
#include "cmocka_first.h"

#include "clock/counter/probe.h"
#include "daemon/cpus_skew.h"
#include "daemon/log.h"
#include "folder.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)

static void all_that_were_compared_need_nobody_s_word(void **state)
{
    struct skew skew = {.cpus = 4, .measured_cpus = 4};
    (void)state;
    assert_int_equal(cpus_verdict(&skew, false), CPUS_COMPARED);
    skew = (struct skew){.cpus = 1, .measured_cpus = 1};
    assert_int_equal(cpus_verdict(&skew, false), CPUS_COMPARED);
}

static void those_that_were_not_need_the_kernel_s(void **state)
{
    struct skew skew = {.cpus = 4, .measured_cpus = 3};
    (void)state;
    assert_int_equal(cpus_verdict(&skew, true), CPUS_ALLOWED);
    assert_int_equal(cpus_verdict(&skew, false), CPUS_UNKNOWN);
    skew.is_inconsistent = true; /* the kernel does not know what we have seen */
    assert_int_equal(cpus_verdict(&skew, true), CPUS_UNKNOWN);
    skew = (struct skew){.cpus = 0};
    assert_int_equal(cpus_verdict(&skew, false), CPUS_UNKNOWN); /* there is no list of them */
}

static void the_verdict_goes_into_the_sample(void **state)
{
    const struct cpus_skew cpus = {.skew_ticks = 400, .allowance_ticks = 3000};
    struct discipline_sample sample = {.is_synchronized = true};
    (void)state;
    cpus_apply(&cpus, CPUS_COMPARED, &sample);
    assert_true(sample.spread_ticks == 400 && sample.is_synchronized);
    cpus_apply(&cpus, CPUS_ALLOWED, &sample);
    assert_true(sample.spread_ticks == 3400 && sample.is_synchronized);
    cpus_apply(&cpus, CPUS_UNKNOWN, &sample);
    assert_true(sample.spread_ticks == 400);
    assert_false(sample.is_synchronized);
}

static void a_measurement_ends_however_busy_the_machine_is(void **state)
{
    struct cpus_skew cpus = {.is_told = false};
    int64_t now_ns = 1000000000;
    (void)state;
    cpus_measure(&cpus, now_ns);
    for (int i = 0; i < 100000 && !cpus.map.is_done; i++)
        cpus_measure_again(&cpus, now_ns);
    assert_true(cpus.map.is_done);
    assert_true(cpus.skew.cpus >= 1);
    assert_true(cpus.allowance_ticks > 0);
    assert_false(cpus_measure_again(&cpus, now_ns)); /* nothing new */
    cpus_close(&cpus);
}

/* Every ten minutes, for a counter may leave the others slowly. */
static void all_are_measured_again(void **state)
{
    struct cpus_skew cpus = {.is_told = false};
    (void)state;
    cpus_measure(&cpus, 0);
    cpus.map.is_done = true;
    cpus.skew.measured_cpus = cpus.skew.cpus;
    assert_false(cpus_measure_again(&cpus, 500000000000));
    if (cpus.map.count > 1)
        assert_true(cpus_measure_again(&cpus, 600000000000));
    cpus_close(&cpus);
}

/* Two CPUs that were measured and found to be apart by up to 900 ticks. */
static void begin_with_two(struct cpus_skew *cpus, int64_t now_ns)
{
    static const struct cpus_skew none;
    *cpus = none;
    cpus->allowance_ticks = 3000; /* 3 GHz */
    cpus->listed_ns = cpus->looked_ns = cpus->measured_ns = now_ns;
    cpus->map = (struct skew_map){calloc(2, sizeof(struct skew_cpu)), 2, 200, 1, false};
    cpus->map.cpus[0] = (struct skew_cpu){.is_measured = true};
    cpus->map.cpus[1] = (struct skew_cpu){
        .number = 1, .is_measured = true, .attempts = 1, .range = {-900, 700}};
}

/* The counters of the host after it have nothing to do with those of the host before. */
static void a_move_or_a_sleep_voids_what_was_measured(void **state)
{
    struct cpus_skew cpus;
    (void)state;
    begin_with_two(&cpus, SECOND);
    assert_true(cpus_measure_again(&cpus, SECOND));
    assert_true(cpus.skew_ticks == 900);
    cpus_heed(&cpus, 0);
    assert_int_equal(cpus_judge(&cpus, false), CPUS_COMPARED);
    cpus_heed(&cpus, 1);
    assert_false(cpus.map.is_done);
    assert_int_equal(cpus.skew.measured_cpus, 1);
    assert_true(cpus.skew_ticks == 900); /* no less, while nothing is known */
    /* The kernel has looked at them before, too. */
    assert_int_equal(cpus_judge(&cpus, true), CPUS_UNKNOWN);
    cpus_heed(&cpus, 1);
    cpus.map.cpus[1].attempts = 4; /* tried, as often as they are, and not reached */
    cpus_measure_again(&cpus, SECOND);
    assert_int_equal(cpus_judge(&cpus, true), CPUS_ALLOWED);
    assert_true(cpus.skew_ticks == 0);
    cpus_close(&cpus);
}

/* It goes on until they are measured again. */
static void a_drift_is_allowed_for_until_all_are_measured_again(void **state)
{
    struct cpus_skew cpus;
    (void)state;
    begin_with_two(&cpus, SECOND);
    struct skew_drift *drift = &cpus.map.cpus[1].drift;
    *drift = (struct skew_drift){
        2, {{0, {-900, 700}}, {3 * (uint64_t)SECOND, {-950, 690}}}}; /* perhaps none */
    cpus_measure_again(&cpus, SECOND);
    assert_true(cpus.skew_ticks == 900);
    cpus.map.cpus[1].range = (struct skew_range){2300, 2700};
    drift->points[1].range = cpus.map.cpus[1].range; /* by 1,600 to 3,600 ticks in a second */
    cpus.map.is_done = false;
    cpus_measure_again(&cpus, SECOND);
    assert_in_range(cpus.skew_ticks, 2700 + 660 * 3600, 2700 + 660 * 3600 + 1);
    cpus_heed(&cpus, 1);
    assert_int_equal(drift->count, 0);
    cpus_close(&cpus);
}

static void set_online(const char *list)
{
    const char *parts[] = {"/sys", "/devices", "/system", "/cpu"};
    char path[160];
    int used = snprintf(path, sizeof(path), "%s", folder);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        used += snprintf(path + used, sizeof(path) - (size_t)used, "%s", parts[i]);
        mkdir(path, 0755);
    }
    snprintf(path + used, sizeof(path) - (size_t)used, "/online");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", list);
    fclose(file);
}

/* Its counter may have been set meanwhile. */
static void a_cpu_that_was_gone_is_measured_again(void **state)
{
    struct cpus_skew cpus;
    int64_t now_ns = SECOND;
    (void)state;
    counter_set_root(folder);
    set_online("0-1");
    begin_with_two(&cpus, now_ns);
    cpus_measure_again(&cpus, now_ns += 250 * MS);
    assert_int_equal(cpus.map.cpus[1].range.low_ticks, -900);
    set_online("0");
    cpus_measure_again(&cpus, now_ns += 250 * MS);
    assert_int_equal(cpus.map.count, 1);
    set_online("0-1");
    cpus_measure_again(&cpus, now_ns += 250 * MS);
    assert_int_equal(cpus.map.count, 2);
    assert_int_not_equal(cpus.map.cpus[1].range.low_ticks, -900);
    counter_set_root("");
    cpus_close(&cpus);
}

static void a_cpu_that_was_away_between_two_looks_is_measured_again(void **state)
{
    struct cpus_skew cpus;
    char path[160];
    (void)state;
    counter_set_root(folder);
    set_online("0-1");
    begin_with_two(&cpus, SECOND);
    cpus_measure_again(&cpus, SECOND + 250 * MS);
    snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu1", folder);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu1/topology", folder);
    assert_int_equal(mkdir(path, 0755), 0); /* as when it comes online */
    cpus_measure_again(&cpus, 4 * SECOND);
    assert_int_equal(cpus.map.cpus[1].range.low_ticks, -900);
    cpus_measure_again(&cpus, 5 * SECOND);
    assert_int_equal(cpus.map.count, 2);
    assert_int_not_equal(cpus.map.cpus[1].range.low_ticks, -900);
    counter_set_root("");
    cpus_close(&cpus);
}

/* As where lxcfs makes it, and is started anew. */
static void a_list_that_cannot_be_read_any_more_is_looked_for_again(void **state)
{
    struct online_list list = {.is_open = false};
    char path[160];
    (void)state;
    snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/online", folder);
    counter_set_root(folder);
    set_online("0-1");
    online_list_open(&list);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(unlink(path), 0);
    assert_false(online_list_has_changed(&list));
    assert_false(online_list_has_changed(&list));
    set_online("0");
    assert_true(online_list_has_changed(&list));
    assert_false(online_list_has_changed(&list));
    set_online("0-1");
    assert_true(online_list_has_changed(&list));
    counter_set_root("");
    online_list_close(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_were_compared_need_nobody_s_word),
        cmocka_unit_test(those_that_were_not_need_the_kernel_s),
        cmocka_unit_test(the_verdict_goes_into_the_sample),
        cmocka_unit_test(a_measurement_ends_however_busy_the_machine_is),
        cmocka_unit_test(all_are_measured_again),
        cmocka_unit_test(a_move_or_a_sleep_voids_what_was_measured),
        cmocka_unit_test(a_drift_is_allowed_for_until_all_are_measured_again),
        cmocka_unit_test(a_cpu_that_was_gone_is_measured_again),
        cmocka_unit_test(a_cpu_that_was_away_between_two_looks_is_measured_again),
        cmocka_unit_test(a_list_that_cannot_be_read_any_more_is_looked_for_again),
    };
    log_set_level(0);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
