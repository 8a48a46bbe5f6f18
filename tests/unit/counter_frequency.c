/* SPDX-License-Identifier: MIT */
/* The frequency: measured with a bound that holds, and claims that are believed or not. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock/counter/probe.h"

static enum counter_verdict judge(uint64_t claimed_hz, uint64_t rounding_hz, uint64_t hz,
                                  uint64_t error_hz)
{
    struct counter_claim claim = {TIMEBASE_FREQUENCY_CPUID, claimed_hz, rounding_hz};
    struct counter_measurement measured = {hz, error_hz};
    return counter_judge_claim(&claim, &measured);
}

static void test_absent_claim(void **state)
{
    (void)state;
    assert_int_equal(judge(0, 0, 2600000000, 30000), COUNTER_CLAIM_ABSENT);
    assert_int_equal(judge(0, 0, 1000000000, UINT64_MAX), COUNTER_CLAIM_ABSENT);
}

static void test_lies(void **state)
{
    (void)state;
    assert_int_equal(judge(5200000000, 0, 2600000000, 30000), COUNTER_CLAIM_LIES);
    assert_int_equal(judge(100000000, 0, 2600000000, 30000), COUNTER_CLAIM_LIES);
    assert_int_equal(judge(1, 0, 2600000000, 30000), COUNTER_CLAIM_LIES);
    assert_int_equal(judge(UINT64_MAX, 0, 2600000000, 30000), COUNTER_CLAIM_LIES);
    /* the wrong one of two common crystals; the ratio truncated: 2 GHz for 2.9 */
    assert_int_equal(judge(25000000, 0, 24000000, 300), COUNTER_CLAIM_LIES);
    assert_int_equal(judge(2000000000, 0, 2900000000, 40000), COUNTER_CLAIM_LIES);
}

/* 200 ppm of 1 GHz are 200 kHz, and the measurement's error comes on top. */
static void test_the_limit_of_belief(void **state)
{
    (void)state;
    assert_int_equal(judge(1000000000, 0, 1000000000, 10), COUNTER_CLAIM_BELIEVED);
    assert_int_equal(judge(1000200010, 0, 1000000000, 10), COUNTER_CLAIM_BELIEVED);
    assert_int_equal(judge(1000200011, 0, 1000000000, 10), COUNTER_CLAIM_LIES);
    assert_int_equal(judge(999799990, 0, 1000000000, 10), COUNTER_CLAIM_BELIEVED);
    assert_int_equal(judge(999799989, 0, 1000000000, 10), COUNTER_CLAIM_LIES);
}

/* A whole number of MHz is no lie about 2,599.4 MHz, and no news either. */
static void test_rounded_claims(void **state)
{
    (void)state;
    assert_int_equal(judge(2600000000, 500000, 2599400000, 30000), COUNTER_CLAIM_ROUGH);
    assert_int_equal(judge(2600000000, 500000, 2600000000, 30000), COUNTER_CLAIM_ROUGH);
    assert_int_equal(judge(2600000000, 500000, 2598000000, 30000), COUNTER_CLAIM_LIES);
    assert_int_equal(judge(2596138000, 500, 2596140000, 30000), COUNTER_CLAIM_BELIEVED);
}

/* Nothing contradicts a claim when nothing could be measured; its error says so. */
static void test_unmeasured(void **state)
{
    struct counter_claim claim = {TIMEBASE_FREQUENCY_REGISTER, 24000000, 0};
    struct counter_measurement unknown = counter_rate(0, 0, 0, 0);
    struct timebase_counter counter;
    (void)state;
    memset(&counter, 0, sizeof(counter));
    assert_true(unknown.hz > 0);
    assert_true(unknown.error_hz == UINT64_MAX);
    counter_settle_frequency(&counter, &claim, 1, &unknown);
    assert_true(counter.frequency_hz == 24000000);
    assert_true(counter.frequency_error_hz == UINT64_MAX);
    assert_int_equal(counter.reasons, 0);
    memset(&counter, 0, sizeof(counter));
    counter_settle_frequency(&counter, &claim, 0, &unknown);
    assert_true(counter.frequency_hz > 0);
}

static void test_believed_claim_is_the_frequency(void **state)
{
    struct counter_claim claims[] = {
        {TIMEBASE_FREQUENCY_C_LIBRARY, 0, 0},
        {TIMEBASE_FREQUENCY_DEVICE_TREE, 100000000, 0}, /* lies, but another is right */
        {TIMEBASE_FREQUENCY_CPUINFO, 512000000, 0},
    };
    struct counter_measurement measured = {512003000, 5000};
    struct timebase_counter counter;
    (void)state;
    memset(&counter, 0, sizeof(counter));
    counter_settle_frequency(&counter, claims, 3, &measured);
    assert_true(counter.frequency_hz == 512000000);
    assert_true(counter.frequency_error_hz == 8000); /* holds for whatever the measurement allows */
    assert_int_equal(counter.frequency_source, TIMEBASE_FREQUENCY_CPUINFO);
    assert_true(counter.claimed_hz == 512000000);
    assert_int_equal(counter.claimed_source, TIMEBASE_FREQUENCY_CPUINFO);
    assert_int_equal(counter.reasons, 0);
}

static void test_lie_leaves_the_measurement(void **state)
{
    struct counter_claim claims[] = {
        {TIMEBASE_FREQUENCY_CPUID, 0, 0},
        {TIMEBASE_FREQUENCY_HYPERVISOR, 100000000, 500},
        {TIMEBASE_FREQUENCY_CPUID, 200000000, 500000},
    };
    struct counter_measurement measured = {2600000000, 30000};
    struct timebase_counter counter;
    (void)state;
    memset(&counter, 0, sizeof(counter));
    counter_settle_frequency(&counter, claims, 3, &measured);
    assert_true(counter.frequency_hz == 2600000000);
    assert_true(counter.frequency_error_hz == 30000);
    assert_int_equal(counter.frequency_source, TIMEBASE_FREQUENCY_MEASURED);
    assert_true(counter.claimed_hz == 100000000);
    assert_int_equal(counter.claimed_source, TIMEBASE_FREQUENCY_HYPERVISOR);
    assert_int_equal(counter.reasons, TIMEBASE_REASON_FREQUENCY_LIES);
}

/* The ratio is no whole number: dividing first makes 1.8 GHz of 600 MHz * 7 / 2. */
static void test_crystal_is_not_truncated(void **state)
{
    (void)state;
    assert_true(counter_crystal_frequency(3, 348, 25000000) == 2900000000);
    assert_true(counter_crystal_frequency(2, 7, 600000000) == 2100000000);
    assert_true(counter_crystal_frequency(2, 216, 24000000) == 2592000000);
    assert_true(counter_crystal_frequency(3, 3, UINT32_MAX) == UINT32_MAX);
    assert_true(counter_crystal_frequency(1, UINT32_MAX, UINT32_MAX) == 18446744065119617025u);
    assert_true(counter_crystal_frequency(0, 348, 25000000) == 0);
    assert_true(counter_crystal_frequency(3, 0, 25000000) == 0);
    assert_true(counter_crystal_frequency(3, 348, 0) == 0);
}

/* The bound must hold for every true value within the errors: here for the corners. */
static void expect_bound(uint64_t ticks, uint64_t ticks_error, uint64_t ns, uint64_t ns_error)
{
    struct counter_measurement rate = counter_rate(ticks, ticks_error, ns, ns_error);
    for (int corner = 0; corner < 4; corner++) {
        double true_ticks = (double)ticks + (corner & 1 ? 1.0 : -1.0) * (double)ticks_error;
        double true_ns = (double)ns + (corner & 2 ? 1.0 : -1.0) * (double)ns_error;
        double off = true_ticks / true_ns * 1e9 - (double)rate.hz;
        if ((off < 0 ? -off : off) > (double)rate.error_hz + 1.0)
            fail_msg("%llu / %llu", (unsigned long long)ticks, (unsigned long long)ns);
    }
}

static void test_rate_bounds_hold(void **state)
{
    static const uint64_t rates_hz[] = {32768,     1000000,    62500000,
                                        512000000, 2600000000, 4096000000};
    (void)state;
    for (size_t i = 0; i < sizeof(rates_hz) / sizeof(rates_hz[0]); i++)
        for (uint64_t ns = 1000000; ns < 1000000000000; ns *= 7)
            expect_bound((uint64_t)((double)rates_hz[i] * (double)ns / 1e9), 25, ns, 70);
}

static void test_rate_without_information(void **state)
{
    (void)state;
    assert_true(counter_rate(10400000, 100, 4000000, 4000000).error_hz == UINT64_MAX);
    assert_true(counter_rate(3, 3, 4000000, 1).error_hz == UINT64_MAX);
    assert_true(counter_rate(10400000, 100, 0, 0).error_hz == UINT64_MAX);
    assert_true(counter_rate(10400000, 100, 4000000, INT64_MAX).error_hz == UINT64_MAX);
    assert_true(counter_rate(2, 1, 1ull << 40, 1).hz > 0);
    assert_true(counter_rate(1ull << 50, 1, 1ull << 30, (1ull << 30) - 1).error_hz > 1ull << 62);
}

/* Two measurements of one counter must overlap: that is what their errors promise. */
static void test_measurements_agree(void **state)
{
    struct timebase_counter counter;
    memset(&counter, 0, sizeof(counter));
    counter_find_granularity(&counter);
    uint64_t step_ticks = counter_largest_step(&counter);
    struct counter_measurement first = counter_measure_frequency(step_ticks);
    struct counter_measurement second = counter_measure_frequency(step_ticks);
    uint64_t apart = first.hz > second.hz ? first.hz - second.hz : second.hz - first.hz;
    (void)state;
    assert_true(first.hz > 0);
    if (first.error_hz == UINT64_MAX || second.error_hz == UINT64_MAX)
        skip();
    assert_true(apart <= first.error_hz + second.error_hz);
}

static char folder[] = "/tmp/timebase-frequency-XXXXXX";

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static uint64_t cpuinfo_says(const char *text)
{
    write_file("cpuinfo", text, strlen(text));
    return counter_cpuinfo_frequency("/cpuinfo");
}

static void test_cpuinfo(void **state)
{
    (void)state;
    assert_true(cpuinfo_says("processor\t: 0\n\ntimebase\t: 512000000\nplatform\t: x\n") ==
                512000000);
    assert_true(cpuinfo_says("timebase : 33333333") == 33333333);
    assert_true(cpuinfo_says("timebase\t:\nother : 1\n") == 0);
    assert_true(cpuinfo_says("timebase : 512 MHz\n") == 512); /* judged later, and found lying */
    assert_true(cpuinfo_says("timebase : -5\n") == 0);
    assert_true(cpuinfo_says("timebase : 99999999999999999999999999\n") == 0);
    assert_true(cpuinfo_says("timebases : 5\n") == 0);
    assert_true(counter_cpuinfo_frequency("/absent") == 0);
}

static void test_device_tree(void **state)
{
    char path[96];
    (void)state;
    assert_true(counter_device_tree_frequency("/absent") == 0);
    assert_true(counter_device_tree_frequency("/cpus") == 0);
    snprintf(path, sizeof(path), "%s/cpus", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(counter_device_tree_frequency("/cpus") == 0);
    snprintf(path, sizeof(path), "%s/cpus/cpu@0", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file("cpus/name", "cpus", 5);
    write_file("cpus/cpu@0/timebase-frequency", "\x1e\x84\x80\x00", 4);
    assert_true(counter_device_tree_frequency("/cpus") == 512000000);
    write_file("cpus/cpu@0/timebase-frequency", "\0\0\0\1\0\0\0\2", 8);
    assert_true(counter_device_tree_frequency("/cpus") == 4294967298);
    write_file("cpus/cpu@0/timebase-frequency", "\0\0\0\1\0\0\0\2\3", 9);
    assert_true(counter_device_tree_frequency("/cpus") == 0);
    write_file("cpus/timebase-frequency", "\x00\x98\x96\x80", 4); /* RISC-V keeps it here */
    assert_true(counter_device_tree_frequency("/cpus") == 10000000);
}

static int make_folder(void **state)
{
    (void)state;
    counter_set_root(folder);
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"cpuinfo",
                                        "cpus/name",
                                        "cpus/timebase-frequency",
                                        "cpus/cpu@0/timebase-frequency",
                                        "cpus/cpu@0",
                                        "cpus",
                                        "."};
    char path[96];
    (void)state;
    for (size_t i = 0; i + 1 < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        remove(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent_claim),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_the_limit_of_belief),
        cmocka_unit_test(test_rounded_claims),
        cmocka_unit_test(test_unmeasured),
        cmocka_unit_test(test_believed_claim_is_the_frequency),
        cmocka_unit_test(test_lie_leaves_the_measurement),
        cmocka_unit_test(test_crystal_is_not_truncated),
        cmocka_unit_test(test_rate_bounds_hold),
        cmocka_unit_test(test_rate_without_information),
        cmocka_unit_test(test_measurements_agree),
        cmocka_unit_test(test_cpuinfo),
        cmocka_unit_test(test_device_tree),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
