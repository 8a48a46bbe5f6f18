/* SPDX-License-Identifier: MIT */
/*
 * As much of cmocka's interface as our tests use, for builds whose C library has no cmocka: most
 * other processors. Same names, same output, same exit status (the number of failed tests), so
 * that a test is written once. Stricter in one thing: a failed group teardown counts.
 * Native builds use cmocka itself.
 *
 * As with cmocka, <stdarg.h>, <stddef.h>, <stdint.h> and <setjmp.h> come first. Assertions belong
 * to the thread that runs the test: they leave it by longjmp.
 */
#ifndef TIMEBASE_TEST_CMOCKA_H
#define TIMEBASE_TEST_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func;
    CMFixtureFunction teardown_func;
    void *initial_state;
};

#define cmocka_unit_test(f) cmocka_unit_test_prestate_setup_teardown(f, NULL, NULL, NULL)
#define cmocka_unit_test_setup(f, setup) cmocka_unit_test_setup_teardown(f, setup, NULL)
#define cmocka_unit_test_teardown(f, teardown) cmocka_unit_test_setup_teardown(f, NULL, teardown)
#define cmocka_unit_test_setup_teardown(f, setup, teardown)                                        \
    cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, NULL)
#define cmocka_unit_test_prestate(f, state)                                                        \
    cmocka_unit_test_prestate_setup_teardown(f, NULL, NULL, state)
/* clang-format off */ /* it takes the initialiser for a block */
#define cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, state) \
    { #f, f, setup, teardown, state }
/* clang-format on */

/* Weak: one variable for all the files of a test program. */
__attribute__((weak)) jmp_buf cm_leave_test;

enum cm_outcome { CM_PASSED, CM_FAILED, CM_SKIPPED };

__attribute__((format(printf, 1, 2))) static inline void print_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout); /* a crash must not swallow the name of its test */
}

__attribute__((format(printf, 1, 2))) static inline void print_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

__attribute__((noreturn)) static inline void cm_fail(const char *file, int line)
{
    print_error("[   LINE   ] --- %s:%d: error: Failure!\n", file, line);
    longjmp(cm_leave_test, CM_FAILED);
}

__attribute__((noreturn)) static inline void cm_skip(void)
{
    longjmp(cm_leave_test, CM_SKIPPED);
}

/* Every assertion comes down to this one: a condition, and what to say when it does not hold. */
#define cm_assert(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("[  ERROR   ] --- " __VA_ARGS__);                                          \
            print_error("\n");                                                                     \
            cm_fail(__FILE__, __LINE__);                                                           \
        }                                                                                          \
    } while (0)

static inline void cm_assert_integers(int wanted, uintmax_t a, uintmax_t b, const char *relation,
                                      const char *file, int line)
{
    if ((a == b) != wanted) {
        print_error("[  ERROR   ] --- %#jx %s %#jx\n", a, relation, b);
        cm_fail(file, line);
    }
}

static inline void cm_assert_range(int wanted, uintmax_t value, uintmax_t minimum,
                                   uintmax_t maximum, const char *file, int line)
{
    if ((minimum <= value && value <= maximum) != wanted) {
        print_error("[  ERROR   ] --- %ju is %s the range %ju-%ju\n", value,
                    wanted ? "not within" : "within", minimum, maximum);
        cm_fail(file, line);
    }
}

static inline void cm_assert_strings(int wanted, const char *a, const char *b, const char *relation,
                                     const char *file, int line)
{
    if ((strcmp(a, b) == 0) != wanted) {
        print_error("[  ERROR   ] --- \"%s\" %s \"%s\"\n", a, relation, b);
        cm_fail(file, line);
    }
}

static inline void cm_assert_memory(int wanted, const void *a, const void *b, size_t size,
                                    const char *file, int line)
{
    const unsigned char *x = a, *y = b;
    size_t i = 0;

    while (i < size && x[i] == y[i])
        i++;
    if ((i == size) != wanted) {
        if (wanted)
            print_error("[  ERROR   ] --- differs at offset %zu: %#x != %#x\n", i, x[i], y[i]);
        else
            print_error("[  ERROR   ] --- all %zu bytes are the same\n", size);
        cm_fail(file, line);
    }
}

#define assert_true(c) cm_assert(c, "%s", #c)
#define assert_false(c) cm_assert(!(c), "!(%s)", #c)
#define assert_null(p) assert_ptr_equal(p, NULL)
#define assert_non_null(p) assert_ptr_not_equal(p, NULL)
#define assert_ptr_equal(a, b) assert_int_equal((uintptr_t)(a), (uintptr_t)(b))
#define assert_ptr_not_equal(a, b) assert_int_not_equal((uintptr_t)(a), (uintptr_t)(b))
#define assert_int_equal(a, b)                                                                     \
    cm_assert_integers(1, (uintmax_t)(a), (uintmax_t)(b), "!=", __FILE__, __LINE__)
#define assert_int_not_equal(a, b)                                                                 \
    cm_assert_integers(0, (uintmax_t)(a), (uintmax_t)(b), "==", __FILE__, __LINE__)
#define assert_in_range(value, minimum, maximum)                                                   \
    cm_assert_range(1, (uintmax_t)(value), (uintmax_t)(minimum), (uintmax_t)(maximum), __FILE__,   \
                    __LINE__)
#define assert_not_in_range(value, minimum, maximum)                                               \
    cm_assert_range(0, (uintmax_t)(value), (uintmax_t)(minimum), (uintmax_t)(maximum), __FILE__,   \
                    __LINE__)
#define assert_string_equal(a, b) cm_assert_strings(1, a, b, "!=", __FILE__, __LINE__)
#define assert_string_not_equal(a, b) cm_assert_strings(0, a, b, "==", __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) cm_assert_memory(1, a, b, size, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) cm_assert_memory(0, a, b, size, __FILE__, __LINE__)
#define assert_return_code(rc, error)                                                              \
    cm_assert((rc) >= 0, "%s < 0, error %d: %s", #rc, (int)(error), strerror((int)(error)))
#define fail_msg(...) cm_assert(0, __VA_ARGS__)
#define fail() cm_fail(__FILE__, __LINE__)
#define skip() cm_skip()

/* Runs a fixture; an assertion may fail in it. */
static inline int cm_fixture_failed(CMFixtureFunction fixture, void **state)
{
    if (fixture == NULL)
        return 0;
    if (setjmp(cm_leave_test) != 0)
        return 1;
    return fixture(state) != 0;
}

static inline enum cm_outcome cm_run_body(const struct CMUnitTest *test, void **state)
{
    switch (setjmp(cm_leave_test)) {
    case 0:
        test->test_func(state);
        return CM_PASSED;
    case CM_SKIPPED:
        return CM_SKIPPED;
    default:
        return CM_FAILED;
    }
}

static inline enum cm_outcome cm_run(const struct CMUnitTest *test, void *group_state)
{
    static const char *const verdicts[] = {"      OK", " FAILED ", " SKIPPED"};
    void *state = test->initial_state != NULL ? test->initial_state : group_state;
    enum cm_outcome outcome = CM_FAILED;

    print_message("[ RUN      ] %s\n", test->name);
    if (!cm_fixture_failed(test->setup_func, &state)) {
        outcome = cm_run_body(test, &state);
        if (cm_fixture_failed(test->teardown_func, &state))
            outcome = CM_FAILED;
    }
    print_message("[ %s ] %s\n", verdicts[outcome], test->name);
    return outcome;
}

static inline int cm_run_group(const struct CMUnitTest *tests, size_t number,
                               CMFixtureFunction setup, CMFixtureFunction teardown)
{
    unsigned count[] = {0, 0, 0};
    void *state = NULL;
    int group_failed = cm_fixture_failed(setup, &state);

    print_message("[==========] Running %zu test(s).\n", number);
    for (size_t i = 0; i < number && !group_failed; i++)
        count[cm_run(&tests[i], state)]++;
    group_failed |= cm_fixture_failed(teardown, &state);
    count[CM_FAILED] += (unsigned)group_failed;

    print_message("[==========] %zu test(s) run.\n", number);
    print_error("[  PASSED  ] %u test(s).\n", count[CM_PASSED]);
    if (count[CM_SKIPPED] > 0)
        print_error("[  SKIPPED ] %u test(s).\n", count[CM_SKIPPED]);
    if (count[CM_FAILED] > 0)
        print_error("[  FAILED  ] %u test(s).\n", count[CM_FAILED]);
    return (int)count[CM_FAILED];
}

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    cm_run_group(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    cmocka_run_group_tests(tests, setup, teardown)

#endif
