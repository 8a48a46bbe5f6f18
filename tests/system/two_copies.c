/* SPDX-License-Identifier: MIT */
/*
 * One copy of the library is linked into the program, another comes with a plug-in: two default
 * clocks, which know nothing of each other. Each is within its bound.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>

#include <timebase.h>

#define READINGS 20000

typedef const timebase_clock *default_clock(void);
typedef void now(const timebase_clock *, struct timebase_instant *);

struct copy {
    default_clock *clock;
    now *now;
};

static struct copy plugged_in(void)
{
    struct copy copy;
    void *library = dlopen(SHARED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fail_msg("%s", dlerror());
    *(void **)&copy.clock = dlsym(library, "timebase_clock_default");
    *(void **)&copy.now = dlsym(library, "timebase_now");
    assert_non_null(*(void **)&copy.clock);
    assert_non_null(*(void **)&copy.now);
    return copy;
}

static void two_copies_are_two_clocks_and_both_are_right(void **state)
{
    struct copy other = plugged_in();
    (void)state;
    assert_ptr_not_equal(other.clock(), timebase_clock_default());
    for (int i = 0; i < READINGS; i++) {
        struct timebase_instant before, between, after;
        timebase_now(timebase_clock_default(), &before);
        other.now(other.clock(), &between);
        timebase_now(timebase_clock_default(), &after);
        /* Back from one to the other by no more than both are off. */
        int64_t early_ns = before.mono_ns - between.mono_ns;
        int64_t late_ns = between.mono_ns - after.mono_ns;
        assert_true(early_ns <= (int64_t)(before.maxerror_ns + between.maxerror_ns));
        assert_true(late_ns <= (int64_t)(after.maxerror_ns + between.maxerror_ns));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_copies_are_two_clocks_and_both_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
