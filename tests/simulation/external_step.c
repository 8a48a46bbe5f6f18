/* SPDX-License-Identifier: MIT */
/* Somebody steps the system clock, which was wrong: both bounds hold as soon as that is seen. */
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

/* Off by so much from true UTC, which the claim knows; then put right in one step. */
static void step(double off_ns)
{
    struct world world = watch_begin(&watch, 31);
    world.utc_offset_ns += (int64_t)off_ns;
    world.claim_error_ns = 100000;
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    world.utc_offset_ns -= (int64_t)off_ns;
    watch.is_excused = true; /* until the next sample nobody can know */
    watch_run(&watch, &world, 101 * MILLISECOND, MILLISECOND);
    watch.is_excused = false;
    watch_run(&watch, &world, 3 * SECOND, MILLISECOND);
    watch_expect_sound(&watch, 31);
    watch_print(&watch, "step");
    assert_true(world.events & DISCIPLINE_UTC_STEPPED);
    assert_true(watch_read(&watch, &world).instant.utc_maxerror_ns < 1000000);
}

static void a_wrong_clock_is_within_its_claim_and_narrower_when_put_right(void **state)
{
    (void)state;
    step(250 * MILLISECOND);
    step(-250 * MILLISECOND);
    step(7 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_clock_is_within_its_claim_and_narrower_when_put_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
