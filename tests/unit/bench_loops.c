/* SPDX-License-Identifier: MIT */
/* The polling loops that the experiments compare with: each ends at its target, and not before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <timebase.h>

#include "../../measure/accuracy.h"
#include "../../measure/accuracy_loops.h"

#define TRIALS 200

static int loops(void)
{
    int count = 0;
    while (timebase_bench_loop_name(count) != NULL)
        count++;
    return count;
}

static void no_loop_ends_before_its_target(void **state)
{
    (void)state;
    for (int loop = 0; loop < loops(); loop++)
        for (uint32_t trial = 0; trial < TRIALS; trial++) {
            uint64_t target = timebase_ticks_ordered() + 37 * trial;
            bench_loop_until(loop, 0, target);
            assert_true((int64_t)(timebase_ticks_ordered() - target) >= 0);
        }
}

static void nor_from_any_place(void **state)
{
    (void)state;
    for (int place = 0; place < timebase_bench_loop_places(); place++)
        for (uint32_t trial = 0; trial < TRIALS; trial++) {
            uint64_t target = timebase_ticks_ordered() + 37 * trial;
            assert_true(bench_loop_exists(TIMEBASE_BENCH_PAPER, place));
            bench_loop_until(TIMEBASE_BENCH_PAPER, place, target);
            assert_true((int64_t)(timebase_ticks_ordered() - target) >= 0);
        }
}

/* The paper's compares halves; 2^32 ticks are seconds only on counters as fast as these. */
static void nor_if_the_lower_half_is_there_already(void **state)
{
    (void)state;
#if defined(__x86_64__)
    uint64_t target = timebase_ticks_ordered() + (UINT64_C(1) << 32) - 1000;
    bench_loop_until(TIMEBASE_BENCH_PAPER, 0, target);
    assert_true((int64_t)(timebase_ticks_ordered() - target) >= 0);
#else
    skip();
#endif
}

/* Else this test would not end. */
static void a_target_in_the_past_ends_every_loop(void **state)
{
    (void)state;
    const uint64_t ago[] = {0, 1, UINT64_C(1) << 31, UINT64_C(3) << 32, UINT64_C(1) << 62};
    for (int loop = 0; loop < loops(); loop++)
        for (unsigned i = 0; i < sizeof ago / sizeof ago[0]; i++)
            bench_loop_until(loop, 0, timebase_ticks_ordered() - ago[i]);
}

static void what_is_not_there_does_not_exist(void **state)
{
    (void)state;
    int places = timebase_bench_loop_places();
    assert_true(loops() >= 2);
    assert_false(bench_loop_exists(-1, 0));
    assert_false(bench_loop_exists(loops(), 0));
    assert_false(bench_loop_exists(TIMEBASE_BENCH_PAPER, -1));
    assert_false(bench_loop_exists(TIMEBASE_BENCH_PAPER, places));
    assert_false(bench_loop_exists(1, 1));
    assert_null(timebase_bench_loop_name(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_loop_ends_before_its_target),
        cmocka_unit_test(nor_from_any_place),
        cmocka_unit_test(nor_if_the_lower_half_is_there_already),
        cmocka_unit_test(a_target_in_the_past_ends_every_loop),
        cmocka_unit_test(what_is_not_there_does_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
