/* SPDX-License-Identifier: MIT */
/* The estimated error, from samples: no wider than they justify, in virtual time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "clock/discipline/bound.h"
#include "clock/discipline/discipline.h"

#define SECOND INT64_C(1000000000)
#define INTERVAL_NS (SECOND / 4) /* as the daemon samples */
#define TICKS_PER_NS 2
#define BRACKET_NS 40
#define MINUTE 240 /* samples */

/* A clock and the reference that it is compared with. */
struct life {
    struct discipline discipline;
    int64_t counter_ns;
    int64_t reference_ns;
    int64_t gained_ppb;    /* the reference's pace */
    uint64_t spread_ticks; /* as far as CPUs were compared */
};

/* The reference is read so late in its bracket. */
static void sample_at(struct life *life, int64_t late_ns)
{
    struct discipline_sample sample = {0};
    life->counter_ns += INTERVAL_NS;
    life->reference_ns += INTERVAL_NS + INTERVAL_NS * life->gained_ppb / SECOND;
    sample.ticks_before = (uint64_t)life->counter_ns * TICKS_PER_NS;
    sample.ticks_after = sample.ticks_before + BRACKET_NS * TICKS_PER_NS;
    sample.step_ticks = 20 * TICKS_PER_NS;
    sample.spread_ticks = life->spread_ticks;
    sample.reference_step_ns = 9;
    sample.mono_ns = life->reference_ns + late_ns;
    discipline_observe(&life->discipline, &sample);
}

static void sample_often(struct life *life, unsigned samples)
{
    for (unsigned i = 0; i < samples; i++)
        sample_at(life, BRACKET_NS / 2);
}

static struct life quiet_life(uint64_t spread_ns)
{
    struct life life = {0};
    life.spread_ticks = spread_ns * TICKS_PER_NS;
    life.counter_ns = life.reference_ns = 1000 * SECOND;
    sample_often(&life, 6 * MINUTE);
    return life;
}

/* Where a reader of the daemon's page is at most: an interval and a lead after the sample. */
static uint64_t esterror_ns(const struct life *life)
{
    uint64_t age = (uint64_t)(INTERVAL_NS + INTERVAL_NS / 8) * TICKS_PER_NS;
    return bound_esterror(&life->discipline, fixed_from_ns(0),
                          life->discipline.estimator.newest.ticks + age);
}

static void in_quiet_it_is_less_than_20_ns(void **state)
{
    struct life life = quiet_life(0);
    (void)state;
    assert_in_range(esterror_ns(&life), BRACKET_NS / 8, 20);
}

/* Two threads on two CPUs cannot tell less than they take to see each other's writes. */
static void cpus_that_were_compared_to_70_ns_change_little(void **state)
{
    struct life life = quiet_life(70);
    (void)state;
    assert_in_range(esterror_ns(&life), BRACKET_NS / 8 + 70 / 16, 20);
}

/* From one end of the bracket to the other: 40 ns, of which widths and slope make 30 usual. */
static void sample_at_both_ends(struct life *life)
{
    sample_at(life, 0);
    sample_at(life, BRACKET_NS);
}

static void samples_at_both_ends_are_scatter_and_no_change_of_pace(void **state)
{
    struct life life = quiet_life(0);
    (void)state;
    sample_at_both_ends(&life);
    sample_often(&life, MINUTE);
    /* Half of the 40 ns, half of the counter's step, and what it was in quiet. */
    assert_in_range(esterror_ns(&life), BRACKET_NS / 2, 20 + 10 + 20);
}

static void until_the_next_sample_they_may_be_one(void **state)
{
    struct life life = quiet_life(0);
    (void)state;
    sample_at_both_ends(&life);
    uint64_t doubtful = bound_esterror_rate(&life.discipline);
    sample_often(&life, 1);
    assert_true(doubtful > 2 * bound_esterror_rate(&life.discipline));
}

static void a_change_of_pace_is_expected_again_for_minutes(void **state)
{
    struct life life = quiet_life(0);
    (void)state;
    life.gained_ppb = 400; /* 100 ns from sample to sample */
    sample_often(&life, 1 * MINUTE);
    assert_in_range(esterror_ns(&life), 80, 160);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_quiet_it_is_less_than_20_ns),
        cmocka_unit_test(cpus_that_were_compared_to_70_ns_change_little),
        cmocka_unit_test(samples_at_both_ends_are_scatter_and_no_change_of_pace),
        cmocka_unit_test(until_the_next_sample_they_may_be_one),
        cmocka_unit_test(a_change_of_pace_is_expected_again_for_minutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
