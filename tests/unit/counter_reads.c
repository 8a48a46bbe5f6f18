/* SPDX-License-Identifier: MIT */
/* Reads of the counter: they do not go back, the clock of last resort included; Cell's erratum. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <timebase/counter.h>
#include <timebase/arch/whole.h>
#include <timebase/error.h>

enum { READS = 100000 };

static void expect_no_step_back(uint64_t (*read)(void))
{
    uint64_t first = read(), last = first;
    for (int i = 0; i < READS; i++) {
        uint64_t now = read();
        if ((int64_t)(now - last) < 0)
            fail_msg("read %d: %lld ticks back", i, (long long)(last - now));
        last = now;
    }
    assert_true(last != first);
}

static uint64_t ticks(void)
{
    return timebase_ticks();
}

static uint64_t ticks_ordered(void)
{
    return timebase_ticks_ordered();
}

/* The OS clock by both of its names. */
static uint64_t os_ticks_in_turn(void)
{
    static int turn;
    return turn++ & 1 ? timebase_ticks_os() : timebase_ticks_ordered_probe();
}

static void test_unordered_reads_advance(void **state)
{
    (void)state;
    expect_no_step_back(ticks);
}

static void test_ordered_reads_advance(void **state)
{
    (void)state;
    expect_no_step_back(ticks_ordered);
}

static void test_reads_out_of_line_advance(void **state)
{
    (void)state;
    expect_no_step_back(timebase_ticks_probe);
    expect_no_step_back(timebase_ticks_ordered_probe);
    expect_no_step_back(timebase_ticks_os);
}

/* The begin and end reads have no out-of-line version: only for a readable counter. */
static void test_begin_and_end_enclose(void **state)
{
    (void)state;
    if (timebase_counter_id() != (int)TIMEBASE_ARCH_COUNTER)
        skip();
    for (int i = 0; i < READS; i++) {
        uint64_t begin = timebase_arch_ticks_begin();
        uint64_t middle = timebase_arch_ticks_ordered();
        uint64_t end = timebase_arch_ticks_end();
        if ((int64_t)(middle - begin) < 0 || (int64_t)(end - middle) < 0)
            fail_msg("read %d: %llu, %llu, %llu", i, (unsigned long long)begin,
                     (unsigned long long)middle, (unsigned long long)end);
        timebase_arch_relax();
    }
}

/* With the OS clock selected, ticks are its nanoseconds. */
static void test_os_clock_in_the_counters_place(void **state)
{
    int id = timebase_counter_id();
    (void)state;
    assert_int_equal(timebase_counter_select(TIMEBASE_COUNTER_OS), TIMEBASE_OK);
    assert_int_equal(timebase_counter_id(), TIMEBASE_COUNTER_OS);
    expect_no_step_back(ticks);
    expect_no_step_back(ticks_ordered);
    expect_no_step_back(os_ticks_in_turn);
    assert_int_equal(timebase_counter_select(id), TIMEBASE_OK);
    assert_int_equal(timebase_counter_id(), id);
}

static void test_probe_with_the_os_clock(void **state)
{
    struct timebase_counter counter;
    int id = timebase_counter_id();
    (void)state;
    assert_int_equal(timebase_counter_select(TIMEBASE_COUNTER_OS), TIMEBASE_OK);
    assert_int_equal(timebase_counter_probe(&counter), TIMEBASE_OK);
    assert_int_equal(timebase_counter_select(id), TIMEBASE_OK);
    assert_int_equal(counter.id, TIMEBASE_COUNTER_OS);
    assert_int_equal(counter.counter_class, TIMEBASE_CLASS_NON_STOP);
    assert_true(counter.frequency_hz == 1000000000);
    assert_true(counter.frequency_error_hz == 0);
    assert_int_equal(counter.frequency_source, TIMEBASE_FREQUENCY_ARCHITECTED);
    assert_true(counter.reasons & TIMEBASE_REASON_UNREADABLE);
}

static void test_probe_of_this_machine(void **state)
{
    struct timebase_counter counter;
    (void)state;
    assert_int_equal(timebase_counter_probe(NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_counter_probe(&counter), TIMEBASE_OK);
    assert_int_equal(counter.id, timebase_counter_id());
    assert_true(counter.frequency_hz > 0);
    assert_true(counter.granularity_ticks > 0);
    assert_in_range(counter.quality, 0, 100);
    assert_true(counter.cpus >= 0);
    print_message(
        "%s, %s, %llu Hz +/- %llu (%s; claimed %llu by %s), granularity %llu, least step "
        "%llu, %u and %u ps, quality %d, constant %d, non-stop %d, hypervisor %d \"%s\", "
        "clocksource \"%s\" of \"%s\", %d CPUs\n",
        timebase_counter_name(counter.id), timebase_counter_class_name(counter.counter_class),
        (unsigned long long)counter.frequency_hz, (unsigned long long)counter.frequency_error_hz,
        timebase_frequency_source_name(counter.frequency_source),
        (unsigned long long)counter.claimed_hz,
        timebase_frequency_source_name(counter.claimed_source),
        (unsigned long long)counter.granularity_ticks,
        (unsigned long long)counter.smallest_step_ticks, counter.cost_ps, counter.cost_ordered_ps,
        counter.quality, counter.constant, counter.non_stop, counter.hypervisor,
        counter.hypervisor_name, counter.kernel_clocksource, counter.kernel_available,
        counter.cpus);
    for (unsigned n = 0; timebase_counter_reason(&counter, n) != NULL; n++)
        print_message("- %s\n", timebase_counter_reason(&counter, n));
}

/* A Time Base as Cell's: where the carry goes up, the old upper half comes with a zero below. */
static const uint64_t *next_read;

static uint64_t faulty_read(void)
{
    return *next_read++;
}

static uint64_t read_whole(const uint64_t *reads)
{
    uint64_t value;
    next_read = reads;
    TIMEBASE_ARCH_READ_WHOLE(value, faulty_read());
    return value;
}

static void test_sound_reads_are_taken_at_once(void **state)
{
    static const uint64_t reads[] = {0x12ffffffff, 0};
    (void)state;
    assert_true(read_whole(reads) == 0x12ffffffff);
    assert_int_equal(next_read - reads, 1);
}

static void test_faulty_carry_is_read_again(void **state)
{
    static const uint64_t reads[] = {0x1200000000, 0x1200000000, 0x1300000002};
    (void)state;
    assert_true(read_whole(reads) == 0x1300000002);
    assert_int_equal(next_read - reads, 3);
}

/* A right zero costs one more read; at start-up the upper half is zero as well. */
static void test_true_zero_is_read_again(void **state)
{
    static const uint64_t carried[] = {0x1300000000, 0x1300000001};
    static const uint64_t started[] = {0, 1};
    (void)state;
    assert_true(read_whole(carried) == 0x1300000001);
    assert_true(read_whole(started) == 1);
}

#if defined(__x86_64__) || defined(__i386__)

static bool kernel_lists(const char *feature)
{
    char line[8192], wanted[32];
    bool is_there = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(wanted, sizeof(wanted), " %s ", feature);
    while (file != NULL && !is_there && fgets(line, sizeof(line), file) != NULL)
        is_there = strncmp(line, "flags", 5) == 0 && strstr(line, wanted) != NULL;
    if (file != NULL)
        fclose(file);
    return is_there;
}

/* Not the OS clock, which is as good but for its cost. */
static void test_a_processor_with_rdtscp_is_read_itself(void **state)
{
    (void)state;
    if (kernel_lists("rdtscp"))
        assert_int_equal(timebase_counter_id(), TIMEBASE_COUNTER_X86_TSC);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(__x86_64__) || defined(__i386__)
        cmocka_unit_test(test_a_processor_with_rdtscp_is_read_itself),
#endif
        cmocka_unit_test(test_unordered_reads_advance),
        cmocka_unit_test(test_ordered_reads_advance),
        cmocka_unit_test(test_reads_out_of_line_advance),
        cmocka_unit_test(test_begin_and_end_enclose),
        cmocka_unit_test(test_os_clock_in_the_counters_place),
        cmocka_unit_test(test_probe_with_the_os_clock),
        cmocka_unit_test(test_probe_of_this_machine),
        cmocka_unit_test(test_sound_reads_are_taken_at_once),
        cmocka_unit_test(test_faulty_carry_is_read_again),
        cmocka_unit_test(test_true_zero_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
