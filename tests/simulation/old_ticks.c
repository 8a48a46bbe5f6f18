/* SPDX-License-Identifier: MIT */
/*
 * Ticks are converted later than they were read: while the page still has their line, what it says
 * of them is true, though the claim about UTC has become narrower since.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watch.h"

#define SECOND 1e9
#define MILLISECOND 1e6
#define OLD_TICKS 200

struct old_tick {
    uint64_t ticks;
    int64_t utc_ns; /* true */
};

static struct old_tick old[OLD_TICKS];
static unsigned count;

static void remember(const struct world *world, const struct reading *reading)
{
    struct old_tick *tick = &old[count++ % OLD_TICKS];
    tick->ticks = world_ticks(world);
    tick->utc_ns = reading->instant.utc_ns - llround(reading->true_error_ns);
}

static bool has_line(const struct world *world, uint64_t ticks)
{
    const struct timebase_lines *lines = &world->page.copy[world->page.seq & 1];
    return (int64_t)(ticks - lines->before.start_ticks) >= 0;
}

static unsigned converted;

static void convert_all(const struct world *world)
{
    unsigned kept = count < OLD_TICKS ? count : OLD_TICKS;
    for (unsigned i = 0; i < kept; i++) {
        struct timebase_instant instant;
        if (!has_line(world, old[i].ticks))
            continue;
        assert_true(timebase_page_convert(&world->page, old[i].ticks, &instant));
        int64_t off_ns = instant.utc_ns - old[i].utc_ns;
        uint64_t size_ns = (uint64_t)(off_ns < 0 ? -off_ns : off_ns);
        converted++;
        if (size_ns > instant.utc_maxerror_ns + 1)
            fail_msg("%" PRIu64 " ns off, promised %" PRIu64, size_ns, instant.utc_maxerror_ns);
    }
}

/* The reference is 500 µs off and comes back, in a tenth of a second; its source is exact and
 * tells. */
static void what_an_old_tick_is_said_to_be_is_true(void **state)
{
    struct world world = world_make(45);
    (void)state;
    world.claim_error_ns = 100;
    for (int i = 0; i < 12000; i++) {
        bool is_slewing = i % 1000 >= 900;
        double ppm = !is_slewing ? 0 : i / 1000 % 2 == 0 ? 5000 : -5000;
        world.reference_rate = 1 + ppm * 1e-6;
        world.claim_ppb = (uint32_t)(fabs(ppm) * 1000);
        world_advance(&world, MILLISECOND);
        struct reading reading = world_read(&world);
        if (world.page.seq != 0)
            remember(&world, &reading);
        convert_all(&world);
    }
    assert_true(converted > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_old_tick_is_said_to_be_is_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
