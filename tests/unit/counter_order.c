/* SPDX-License-Identifier: MIT */
/*
 * Ordered reads of the counter wait for the loads before them, unordered ones do not, by the
 * instructions that they are made of. What an unordered read lets slip shows on two busy cores
 * only, and seldom (interleave/causality); here it shows always.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <timebase.h>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* From the entry of a function to its first look at the counter; none is longer. */
enum { CODE_MAX = 256 };

static const unsigned char rdtsc[] = {0x0f, 0x31};
static const unsigned char rdtscp[] = {0x0f, 0x01, 0xf9};
static const unsigned char lfence[] = {0x0f, 0xae, 0xe8};

static __attribute__((noinline)) uint64_t ticks(void)
{
    return timebase_ticks();
}

static __attribute__((noinline)) uint64_t ticks_ordered(void)
{
    return timebase_ticks_ordered();
}

static __attribute__((noinline)) uint64_t page_ticks(void)
{
    return timebase_page_ticks(false);
}

static __attribute__((noinline)) uint64_t page_ticks_ordered(void)
{
    return timebase_page_ticks(true);
}

static bool is_at(const unsigned char *code, const unsigned char *instruction, size_t size)
{
    return memcmp(code, instruction, size) == 0;
}

/* Does the first look at the counter wait, by its own nature or by a fence right before it? */
static bool is_ordered(uint64_t (*function)(void))
{
    const unsigned char *entry = (const unsigned char *)(uintptr_t)function;
    for (const unsigned char *code = entry; code < entry + CODE_MAX; code++) {
        if (is_at(code, rdtscp, sizeof rdtscp))
            return true;
        if (is_at(code, rdtsc, sizeof rdtsc))
            return code >= entry + sizeof lfence &&
                is_at(code - sizeof lfence, lfence, sizeof lfence);
    }
    fail_msg("no look at the counter within %d bytes", CODE_MAX);
    return false;
}

static void ordered_reads_of_the_counter_wait_and_others_do_not(void **state)
{
    (void)state;
    assert_true(is_ordered(ticks_ordered));
    assert_false(is_ordered(ticks));
}

static void ordered_reads_of_the_page_wait_and_others_do_not(void **state)
{
    (void)state;
    assert_true(is_ordered(page_ticks_ordered));
    assert_false(is_ordered(page_ticks));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordered_reads_of_the_counter_wait_and_others_do_not),
        cmocka_unit_test(ordered_reads_of_the_page_wait_and_others_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    (void)puts("instructions are known of x86-64 only, and without sanitizers");
    return 77;
}

#endif
