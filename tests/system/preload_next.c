/* SPDX-License-Identifier: MIT */
/* A preloaded program with a library of its own that changes one of the functions: it has its way. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>

#include "preload.h"

extern const int other_sec; /* preload_other.c */

/* Of both widths, on 32-bit machines. */
static const char *const names[] = {"gettimeofday", "__gettimeofday64"};
enum { WIDTHS = sizeof(time_t) > sizeof(long) ? 2 : 1, CALLS = 10000 };

typedef int timeofday_function(void *out, void *zone);

static void the_other_library_is_asked(void **state)
{
    (void)state;
    for (int i = 0; i < WIDTHS; i++) {
        timeofday_function *timeofday;
        *(void **)&timeofday = dlsym(RTLD_DEFAULT, names[i]);
        assert_non_null(timeofday);
        for (int n = 0; n < CALLS; n++) {
            int32_t out[4] = {0}; /* the lower half of the seconds comes first, on x86 */
            assert_int_equal(timeofday(out, NULL), 0);
            assert_int_equal(out[0], other_sec);
        }
    }
}

static void what_it_leaves_is_the_kernels(void **state)
{
    (void)state;
    for (int n = 0; n < CALLS; n++) {
        int64_t before_ns = kernel_ns(CLOCK_REALTIME), ns = reading_ns(CLOCK_REALTIME);
        assert_between(before_ns, ns, kernel_ns(CLOCK_REALTIME));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_library_is_asked),
        cmocka_unit_test(what_it_leaves_is_the_kernels),
    };
    (void)argc;
    run_preloaded(argv, "kernel");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
