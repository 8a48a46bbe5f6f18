/* SPDX-License-Identifier: MIT */
/* Counters and references that move in steps: the steps are in the bound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watch.h"

#define SECOND 1e9
#define MILLISECOND 1e6

static struct watch watch;

/* Brackets shorter than a step: the counter often shows the same twice. */
static void step_by(double hz, uint64_t step_ticks, uint64_t reference_step_ns)
{
    struct world world = watch_begin(&watch, 43);
    world.counter_hz = hz;
    world.step_ticks = step_ticks;
    world.reference_step_ns = reference_step_ns;
    watch_run(&watch, &world, SECOND, 0.37 * MILLISECOND);
    watch_reset_errors(&watch);
    for (int i = 0; i < 3000; i++) { /* fresh samples show it best */
        world_advance(&world, world_random(&world) * 40 * MILLISECOND);
        watch_read(&watch, &world);
    }
    print_message("%.0f Hz by %llu, reference by %llu ns, ", hz, (unsigned long long)step_ticks,
                  (unsigned long long)reference_step_ns);
    watch_print(&watch, "steps");
    watch_expect_sound(&watch, 43);
}

static void steps_of_the_counter_are_within_the_bound(void **state)
{
    (void)state;
    step_by(1e9, 1000, 0);
    step_by(2.6e9, 26, 0);
    step_by(2.6e9, 260000, 0);
    step_by(1e6, 1, 0);
    step_by(24e6, 40, 0);
}

static void steps_of_the_reference_are_within_the_bound(void **state)
{
    (void)state;
    step_by(2.6e9, 1, 279);  /* the ACPI timer behind the kernel's clock */
    step_by(2.6e9, 1, 1000); /* microseconds */
    step_by(2.6e9, 1, 50000);
    step_by(1e6, 1, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_the_counter_are_within_the_bound),
        cmocka_unit_test(steps_of_the_reference_are_within_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
