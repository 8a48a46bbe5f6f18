/* SPDX-License-Identifier: MIT */
/* The inline functions exist in the shared library, for languages that cannot inline C. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <string.h>

#include <timebase.h>

#include "skipped.h"

static const char *const inline_functions[] = {
    "timebase_ticks",
    "timebase_ticks_ordered",
    "timebase_mono_ns",
    "timebase_mono_ns_unordered",
    "timebase_utc_ns",
    "timebase_utc_ns_unordered",
    "timebase_utc_ms",
    "timebase_mono_ms",
    "timebase_tai_ns",
    "timebase_tai_ns_unordered",
    "timebase_now",
    "timebase_utc_interval",
    "timebase_realtime_interval",
    "timebase_interval_before",
    "timebase_interval_overlaps",
    "timebase_interval_contains",
    "timebase_interval_width_ns",
    "timebase_interval_intersect",
    "timebase_interval_around",
    "timebase_stopwatch_start",
    "timebase_stopwatch_stop",
};

static void *symbol(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL)
        fail_msg("no symbol %s", name);
    return found;
}

static void every_inline_function_is_a_symbol_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(inline_functions) / sizeof(inline_functions[0]); i++)
        symbol(inline_functions[i]);
}

/* A function pointer out of an object pointer, as POSIX promises it to work. */
static void copy_pointer(void *function, const char *name)
{
    void *found = symbol(name);
    memcpy(function, &found, sizeof(found));
}

static void the_symbols_read_the_same_clock_as_inline_code(void **state)
{
    const timebase_clock *(*clock_default)(void);
    int64_t (*mono_ns)(const timebase_clock *);
    (void)state;
    copy_pointer(&clock_default, "timebase_clock_default");
    copy_pointer(&mono_ns, "timebase_mono_ns");
    assert_ptr_equal(clock_default(), timebase_clock_default());
    int64_t before = timebase_mono_ns(timebase_clock_default());
    int64_t now = mono_ns(clock_default());
    assert_true(before <= now && now <= timebase_mono_ns(timebase_clock_default()));
}

static void the_symbols_read_the_same_counter_as_inline_code(void **state)
{
    uint64_t (*ticks_ordered)(void);
    (void)state;
    copy_pointer(&ticks_ordered, "timebase_ticks_ordered");
    uint64_t before = timebase_ticks_ordered();
    uint64_t now = ticks_ordered();
    uint64_t after = timebase_ticks_ordered();
    assert_true((int64_t)(now - before) >= 0 && (int64_t)(after - now) >= 0);
}

static void internal_functions_are_no_symbols(void **state)
{
    (void)state;
    assert_null(dlsym(RTLD_DEFAULT, "publish_lines"));
    assert_null(dlsym(RTLD_DEFAULT, "own_maintain"));
    assert_null(dlsym(RTLD_DEFAULT, "discipline_observe"));
    assert_null(dlsym(RTLD_DEFAULT, "reference_kernel"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_inline_function_is_a_symbol_too),
        cmocka_unit_test(the_symbols_read_the_same_clock_as_inline_code),
        cmocka_unit_test(the_symbols_read_the_same_counter_as_inline_code),
        cmocka_unit_test(internal_functions_are_no_symbols),
    };
    return run_all(tests);
}
