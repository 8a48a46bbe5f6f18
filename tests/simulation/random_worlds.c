/* SPDX-License-Identifier: MIT */
/*
 * Anything within the assumptions, at random: whatever happens, monotonic time does not go
 * back and the truth is within the bound; and the bound is not idle talk either.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../repeats.h"
#include "watch.h"

#define SECOND 1e9
#define MILLISECOND 1e6

static struct watch watch;

#include <stdlib.h>

static void happen(struct world *world)
{
    double which = world_random(world);
    if (which < 0.02)
        world->reference_rate = 1 + (world_random(world) * 2 - 1) * 240e-6;
    else if (which < 0.03)
        world->reference_rate = 1;
    else if (which < 0.04)
        world_advance(world, world_random(world) * 30 * SECOND);
    else if (which < 0.05)
        world->disturbed_share = world_random(world);
    else
        world_advance(world, pow(10, 3 + 5 * world_random(world)));
}

static double live(uint64_t seed)
{
    struct world world = world_make(seed);
    struct watch fresh = {0};
    watch = fresh;
    world.counter_hz = pow(10, 6 + 3.69 * world_random(&world));
    world.bracket_ns = 20 + 500 * world_random(&world);
    world.disturbance_ns = pow(10, 2 + 4 * world_random(&world));
    world.wander_ppm = 0.1 * world_random(&world);
    for (int i = 0; i < 500; i++) {
        happen(&world);
        watch_read(&watch, &world);
    }
    watch_expect_sound(&watch, seed);
    return watch.tightest_share;
}

static void no_world_breaks_the_promises(void **state)
{
    const char *variable = getenv("TIMEBASE_TEST_WORLDS");
    uint64_t worlds = variable != NULL ? strtoull(variable, NULL, 10) : (uint64_t)repeats(1000);
    double tightest = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= worlds; seed++)
        tightest = fmax(tightest, live(seed));
    print_message("%u worlds; the error came to %.2f of the bound\n", (unsigned)worlds, tightest);
    assert_true(tightest >= 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_world_breaks_the_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
