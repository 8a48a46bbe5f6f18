/* SPDX-License-Identifier: MIT */
/* Quality as a number with reasons in words, and the names of things. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "clock/counter/probe.h"

enum { REASON_BITS = 10 };

static struct timebase_counter faultless(void)
{
    struct timebase_counter counter;
    memset(&counter, 0, sizeof(counter));
    counter.id = TIMEBASE_COUNTER_X86_TSC;
    counter.counter_class = TIMEBASE_CLASS_NON_STOP;
    counter.frequency_hz = 2600000000;
    counter.granularity_ticks = 2;
    counter.cost_ps = 8000;
    return counter;
}

static unsigned count_reasons(const struct timebase_counter *counter)
{
    unsigned count = 0;
    while (timebase_counter_reason(counter, count) != NULL)
        count++;
    return count;
}

static void test_nothing_to_complain_of(void **state)
{
    struct timebase_counter counter = faultless();
    (void)state;
    counter_judge_quality(&counter);
    assert_int_equal(counter.quality, 100);
    assert_int_equal(counter.reasons, 0);
    assert_null(timebase_counter_reason(&counter, 0));
    assert_null(timebase_counter_reason(NULL, 0));
}

static void test_every_reason_costs_and_has_words(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < REASON_BITS; bit++) {
        struct timebase_counter counter = faultless();
        counter.reasons = 1u << bit;
        counter_judge_quality(&counter);
        assert_in_range(counter.quality, 0, 99);
        assert_int_equal(count_reasons(&counter), 1);
        const char *text = timebase_counter_reason(&counter, 0);
        assert_in_range(strlen(text), 20, 200);
        assert_int_equal(text[strlen(text) - 1], '.');
    }
}

/* One more reason is never better, and the number stays in its range. */
static void test_more_reasons_are_worse(void **state)
{
    (void)state;
    for (uint32_t reasons = 0; reasons < 1u << REASON_BITS; reasons++) {
        struct timebase_counter counter = faultless(), worse = faultless();
        counter.reasons = reasons;
        counter_judge_quality(&counter);
        assert_in_range(counter.quality, 0, 100);
        for (unsigned bit = 0; bit < REASON_BITS; bit++) {
            worse.reasons = reasons | 1u << bit;
            counter_judge_quality(&worse);
            assert_true(worse.quality <= counter.quality);
        }
    }
}

static void test_all_reasons_worst_first(void **state)
{
    struct timebase_counter counter = faultless(), single = faultless();
    (void)state;
    counter.reasons = (1u << REASON_BITS) - 1;
    counter_judge_quality(&counter);
    assert_int_equal(counter.quality, 0);
    assert_int_equal(count_reasons(&counter), REASON_BITS);
    for (unsigned bit = 0; bit < REASON_BITS; bit++) {
        single.reasons = 1u << bit;
        assert_string_equal(timebase_counter_reason(&counter, bit),
                            timebase_counter_reason(&single, 0));
    }
    assert_null(timebase_counter_reason(&counter, REASON_BITS));
    assert_null(timebase_counter_reason(&counter, UINT32_MAX));
}

static uint32_t reasons_of(struct timebase_counter counter)
{
    counter_judge_quality(&counter);
    return counter.reasons;
}

static void test_reasons_follow_from_the_class(void **state)
{
    struct timebase_counter counter = faultless();
    (void)state;
    counter.counter_class = TIMEBASE_CLASS_NONE;
    assert_int_equal(reasons_of(counter), TIMEBASE_REASON_VARIABLE_RATE);
    counter.counter_class = TIMEBASE_CLASS_CONSTANT;
    assert_int_equal(reasons_of(counter), TIMEBASE_REASON_STOPS_IN_IDLE);
    counter.counter_class = TIMEBASE_CLASS_UNKNOWN;
    assert_int_equal(reasons_of(counter), TIMEBASE_REASON_CLASS_UNKNOWN);
    counter.counter_class = TIMEBASE_CLASS_INVARIANT;
    assert_int_equal(reasons_of(counter), 0);
}

static void test_limits_of_step_and_cost(void **state)
{
    struct timebase_counter counter = faultless();
    (void)state;
    counter.granularity_ticks = 26;    /* 10 ns */
    counter.frequency_hz = 2596138000; /* a little more */
    counter.cost_ps = 500000;
    assert_int_equal(reasons_of(counter), 0);
    counter.granularity_ticks = 28;
    assert_int_equal(reasons_of(counter), TIMEBASE_REASON_COARSE);
    counter.granularity_ticks = 1;
    counter.cost_ps = 500001;
    assert_int_equal(reasons_of(counter), TIMEBASE_REASON_EMULATED);
    counter.cost_ps = 0;
    counter.frequency_hz = 62500000; /* one tick is 16 ns */
    assert_int_equal(reasons_of(counter), TIMEBASE_REASON_COARSE);
    counter.frequency_hz = 100000000;
    assert_int_equal(reasons_of(counter), 0);
}

static void test_os_clock_is_sound_but_second_best(void **state)
{
    struct timebase_counter counter = faultless();
    (void)state;
    counter.id = TIMEBASE_COUNTER_OS;
    counter_judge_quality(&counter);
    assert_int_equal(counter.reasons, TIMEBASE_REASON_UNREADABLE);
    assert_in_range(counter.quality, 40, 79);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(timebase_counter_name(TIMEBASE_COUNTER_X86_TSC), "TSC");
    assert_string_equal(timebase_counter_name(TIMEBASE_COUNTER_OS), "OS clock");
    assert_string_equal(timebase_counter_class_name(TIMEBASE_CLASS_INVARIANT), "invariant");
    assert_string_equal(timebase_counter_class_name(TIMEBASE_CLASS_NON_STOP), "non-stop");
    assert_string_equal(timebase_frequency_source_name(TIMEBASE_FREQUENCY_CPUID), "CPUID");
    assert_string_equal(timebase_frequency_source_name(TIMEBASE_FREQUENCY_CPUINFO),
                        "/proc/cpuinfo");
}

static void test_unknown_names(void **state)
{
    static const int strange[] = {-1, 5, 8, 99, INT32_MIN, INT32_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        assert_string_equal(timebase_counter_name(strange[i]), "unknown");
        assert_string_equal(timebase_counter_class_name(strange[i]), "unknown");
    }
    assert_string_equal(timebase_frequency_source_name(-1), "unknown");
    assert_string_equal(timebase_frequency_source_name(8), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_complain_of),
        cmocka_unit_test(test_every_reason_costs_and_has_words),
        cmocka_unit_test(test_more_reasons_are_worse),
        cmocka_unit_test(test_all_reasons_worst_first),
        cmocka_unit_test(test_reasons_follow_from_the_class),
        cmocka_unit_test(test_limits_of_step_and_cost),
        cmocka_unit_test(test_os_clock_is_sound_but_second_best),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
