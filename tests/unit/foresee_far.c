/* SPDX-License-Identifier: MIT */
/* A loop that has the time foresees what follows it again and again. How often is counted. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "approaches.h"

enum { FAR_TICKS = 100000, EVERY_TICKS = 1000, NONE_TICKS = 2000, TRIES = 1000 };

approach_function approach_poll_bare, approach_hurry_and_look;
approach_function approach_poll_never_early, approach_hurry_never_early_and_look;

/* Its caller has nothing in registers but what the real one leaves alone. */
extern uint64_t foresights;
__asm__(".pushsection .text\n"
        ".globl __wrap_approach_foresee_far\n"
        "__wrap_approach_foresee_far:\n"
        "    incq foresights(%rip)\n"
        "    jmp __real_approach_foresee_far\n"
        ".popsection\n");
uint64_t foresights;

static approach_function *const loops[] = {approach_poll_bare, approach_hurry_and_look,
                                           approach_poll_never_early,
                                           approach_hurry_never_early_and_look};
enum { LOOPS = sizeof(loops) / sizeof(loops[0]) };

/* Returns how often. What follows is executed once, behind the end. */
static uint64_t foresights_in(approach_function *loop, int64_t ahead_ticks)
{
    static struct approach a;
    volatile int returned = 0;
    prepare_approach(&a, ahead_ticks, approach_event_none, NULL);
    a.hurry_ticks = a.leave_ticks;
    foresights = 0;
    loop(&a);
    returned++;
    assert_true((int64_t)(timebase_ticks_ordered() - a.leave_ticks) >= 0);
    assert_int_equal(returned, 1);
    return foresights;
}

static void where_there_is_time_they_are_several(void **state)
{
    (void)state;
    for (int loop = 0; loop < LOOPS; loop++) {
        uint64_t most = 0;
        for (int i = 0; i < TRIES; i++) {
            uint64_t now = foresights_in(loops[loop], FAR_TICKS);
            assert_true(now <= FAR_TICKS / EVERY_TICKS);
            most = now > most ? now : most;
        }
        assert_true(most > 2); /* one of them was not held up */
    }
}

/* The last one of all, 1000 to 2023 ticks before the end, is another. */
static void near_the_end_there_is_none(void **state)
{
    (void)state;
    for (int loop = 0; loop < LOOPS; loop++)
        for (int i = 0; i < TRIES; i++)
            assert_int_equal(foresights_in(loops[loop], NONE_TICKS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_there_is_time_they_are_several),
        cmocka_unit_test(near_the_end_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
