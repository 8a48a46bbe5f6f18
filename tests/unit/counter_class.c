/* SPDX-License-Identifier: MIT */
/* The four classes of the Chromium OS document, from the processor's promise and the kernel's word.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock/counter/probe.h"

static const struct {
    int promised, kernel_constant, kernel_non_stop;
    int counter_class, constant, non_stop;
} cases[] = {
    /* promise and both flags */
    {1, 1, 1, TIMEBASE_CLASS_NON_STOP, 1, 1},
    /* promised, but the kernel denies one of them */
    {1, 1, 0, TIMEBASE_CLASS_INVARIANT, 1, 0},
    {1, 0, 0, TIMEBASE_CLASS_INVARIANT, 0, 0},
    /* promised, and no /proc: the processor's word alone */
    {1, -1, -1, TIMEBASE_CLASS_INVARIANT, 1, 1},
    /* no promise: what is left is the kernel's knowledge of the model */
    {0, 1, 0, TIMEBASE_CLASS_CONSTANT, 1, 0},
    {0, 0, 0, TIMEBASE_CLASS_NONE, 0, 0},
    {0, -1, -1, TIMEBASE_CLASS_UNKNOWN, -1, -1},
    /* flags that this processor cannot have given: an emulator shows its host's file */
    {0, 1, 1, TIMEBASE_CLASS_UNKNOWN, -1, -1},
    /* CPUID switched off: the kernel's flags tell what it said */
    {-1, 1, 1, TIMEBASE_CLASS_NON_STOP, 1, 1},
    {-1, 1, 0, TIMEBASE_CLASS_CONSTANT, 1, 0},
    {-1, 0, 0, TIMEBASE_CLASS_NONE, 0, 0},
    {-1, -1, -1, TIMEBASE_CLASS_UNKNOWN, -1, -1},
};

static void test_promise_and_kernel_decide(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct timebase_counter counter;
        memset(&counter, 0, sizeof(counter));
        counter_decide_class(&counter, cases[i].promised, cases[i].kernel_constant,
                             cases[i].kernel_non_stop);
        if (counter.counter_class != cases[i].counter_class ||
            counter.constant != cases[i].constant || counter.non_stop != cases[i].non_stop)
            fail_msg("case %d: class %d, constant %d, non-stop %d", (int)i, counter.counter_class,
                     counter.constant, counter.non_stop);
    }
}

static char folder[] = "/tmp/timebase-class-XXXXXX";

static void write_file(const char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/cpuinfo", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void expect_flags(const char *text, int constant, int non_stop)
{
    int seen_constant = 7, seen_non_stop = 7;
    write_file(text, strlen(text));
    counter_read_flags("/cpuinfo", &seen_constant, &seen_non_stop);
    if (seen_constant != constant || seen_non_stop != non_stop)
        fail_msg("\"%.60s\": %d, %d", text, seen_constant, seen_non_stop);
}

static void test_flags_are_words_of_the_first_flags_line(void **state)
{
    (void)state;
    expect_flags("flags\t\t: fpu constant_tsc nonstop_tsc\n", 1, 1);
    expect_flags("model\t: x\nflags\t\t: constant_tsc fpu\n\nflags\t: nonstop_tsc\n", 1, 0);
    expect_flags("flags\t\t: nonstop_tsc_s3 constant_tscx xconstant_tsc\n", 0, 0);
    expect_flags("flags : nonstop_tsc", 0, 1); /* no newline */
    expect_flags("flags :\nconstant_tsc\n", 0, 0);
}

static void test_other_lines_are_no_flags(void **state)
{
    (void)state;
    expect_flags("", -1, -1);
    expect_flags("\n\n\n", -1, -1);
    expect_flags("vmx flags\t: constant_tsc\nflagship : nonstop_tsc\nflag : constant_tsc\n", -1,
                 -1);
    expect_flags("flags", -1, -1);
    expect_flags("\001\002flags : constant_tsc\n", -1, -1);
}

/* The words must be found wherever the pieces in which the file is read meet. */
static void test_long_lines_are_read_piece_by_piece(void **state)
{
    static char text[3000];
    (void)state;
    for (size_t length = 400; length < 1200; length++) {
        memset(text, 'a', length);
        memcpy(text, "flags :", 7);
        for (size_t i = 10; i < length; i += 9)
            text[i] = ' ';
        strcpy(text + length, " constant_tsc nonstop_tsc\nbugs : x\n");
        expect_flags(text, 1, 1);
    }
}

static void test_huge_and_binary_files_end(void **state)
{
    enum { SIZE = 3 << 20 };
    int constant, non_stop;
    char *text = malloc(SIZE);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = (char)(i * 2654435761u >> 13);
    write_file(text, SIZE);
    counter_read_flags("/cpuinfo", &constant, &non_stop);
    memset(text, 'x', SIZE); /* one line without an end */
    memcpy(text, "flags : constant_tsc ", 21);
    write_file(text, SIZE);
    counter_read_flags("/cpuinfo", &constant, &non_stop);
    free(text);
    assert_int_equal(constant, 1);
    assert_int_equal(non_stop, 0);
}

static void test_missing_file_says_nothing(void **state)
{
    int constant = 7, non_stop = 7;
    (void)state;
    counter_read_flags("/absent", &constant, &non_stop);
    assert_int_equal(constant, -1);
    assert_int_equal(non_stop, -1);
    counter_read_flags("/", &constant, &non_stop); /* a folder cannot be read */
    assert_int_equal(constant, -1);
}

/* The OS clock is constant and non-stop by definition, whatever the machine. */
static void test_os_clock_is_non_stop(void **state)
{
    struct counter_processor processor;
    struct timebase_counter counter;
    (void)state;
    memset(&processor, 0, sizeof(processor));
    memset(&counter, 0, sizeof(counter));
    counter.id = TIMEBASE_COUNTER_OS;
    counter_find_class(&counter, &processor, COUNTER_OPINION_NONE);
    assert_int_equal(counter.counter_class, TIMEBASE_CLASS_NON_STOP);
}

static int make_folder(void **state)
{
    (void)state;
    counter_set_root(folder);
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof(path), "%s/cpuinfo", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promise_and_kernel_decide),
        cmocka_unit_test(test_flags_are_words_of_the_first_flags_line),
        cmocka_unit_test(test_other_lines_are_no_flags),
        cmocka_unit_test(test_long_lines_are_read_piece_by_piece),
        cmocka_unit_test(test_huge_and_binary_files_end),
        cmocka_unit_test(test_missing_file_says_nothing),
        cmocka_unit_test(test_os_clock_is_non_stop),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
