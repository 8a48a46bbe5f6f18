/* SPDX-License-Identifier: MIT */
/* What readers are promised on CPUs that were compared, and on those that were not. */
#include "cmocka_first.h"

#include "daemon/cpus_skew.h"
#include "daemon/log.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_were_compared_need_nobody_s_word),
        cmocka_unit_test(those_that_were_not_need_the_kernel_s),
        cmocka_unit_test(the_verdict_goes_into_the_sample),
        cmocka_unit_test(a_measurement_ends_however_busy_the_machine_is),
        cmocka_unit_test(all_are_measured_again),
    };
    log_set_level(0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
