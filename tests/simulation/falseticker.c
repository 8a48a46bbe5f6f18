/* SPDX-License-Identifier: MIT */
/* One of three sources lies: the majority's range is the claim, and holds. Without one, no promise.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/sources/selection.h"
#include "watch.h"

#define SECOND 1e9
#define MILLISECOND 1e6

static struct watch watch;

static struct claim claim_of(const struct world *world, double bias_ns, double error_ns)
{
    struct claim claim = {0};
    claim.mono_ns = (int64_t)world->reference_ns;
    claim.offset_ns = (int64_t)(world_realtime_error_ns(world) + bias_ns);
    claim.error_ns = (uint64_t)error_ns + 1;
    claim.is_synchronized = true;
    return claim;
}

/* What the daemon makes of an agreement, put into the world's next samples. */
static void claim_by(struct world *world, const struct selection *agreement)
{
    double low = -(double)agreement->low_ns, high = (double)agreement->high_ns;
    double widest = low > high ? low : high;
    world->is_unsynchronized = !agreement->is_synchronized;
    world->claim_bias_ns = -world_realtime_error_ns(world);
    world->claim_error_ns = widest + 2;
}

static struct world live(double lie_ns, unsigned falsetickers, bool *is_reached)
{
    struct world world = world_make(45);
    struct watch fresh = {0};
    watch = fresh;
    for (int i = 0; i < 300; i++) {
        struct claim claims[3] = {claim_of(&world, 1.9 * MILLISECOND, 2 * MILLISECOND),
                                            claim_of(&world, -0.5 * MILLISECOND, 3 * MILLISECOND),
                                            claim_of(&world, 0, 1 * MILLISECOND)};
        for (unsigned liar = 0; liar < falsetickers; liar++)
            claims[liar + 1].offset_ns += (int64_t)lie_ns * (liar == 0 ? 1 : -1);
        struct selection agreement = selection_of(claims, 3, (int64_t)world.reference_ns, 50000);
        *is_reached = agreement.is_reached;
        claim_by(&world, &agreement);
        watch_run(&watch, &world, 10 * MILLISECOND, MILLISECOND);
    }
    return world;
}

static void one_liar_of_three_is_outvoted(void **state)
{
    bool is_reached;
    (void)state;
    for (double lie_ns = MILLISECOND; lie_ns < 3600 * SECOND; lie_ns *= 10) {
        struct world world = live(lie_ns, 1, &is_reached);
        assert_true(is_reached);
        watch_expect_sound(&watch, 45);
        assert_int_equal(watch_read(&watch, &world).instant.flags & TIMEBASE_LINE_STATUS_MASK,
                         TIMEBASE_STATUS_SYNCHRONIZED);
    }
}

static void where_nobody_agrees_nothing_is_promised(void **state)
{
    bool is_reached;
    (void)state;
    struct world world = live(SECOND, 2, &is_reached);
    assert_false(is_reached);
    assert_int_equal(watch_read(&watch, &world).instant.flags & TIMEBASE_LINE_STATUS_MASK,
                     TIMEBASE_STATUS_FREERUNNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_liar_of_three_is_outvoted),
        cmocka_unit_test(where_nobody_agrees_nothing_is_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
