/* SPDX-License-Identifier: MIT */
/* The table of statuses, by what must never happen and what must; and the samples that drive it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase/clock.h>

#include "clock/discipline/assumptions.h"
#include "clock/discipline/bound.h"
#include "simulated_line.h"

#define MS 1000000
#define SECOND 1000000000
#define STATUSES (TIMEBASE_STATUS_UNRELIABLE + 1)

static void assert_is(int status, int wanted)
{
    assert_string_equal(timebase_status_name(status), timebase_status_name(wanted));
}

static int next(int status, enum status_event event)
{
    return (int)status_next((enum timebase_status)status, event);
}

static void what_is_not_known_and_what_misbehaves_is_told_from_any_status(void **state)
{
    (void)state;
    for (int status = 0; status < STATUSES; status++) {
        assert_is(next(status, STATUS_NOTHING_KNOWN), TIMEBASE_STATUS_UNKNOWN);
        assert_is(next(status, STATUS_DISRUPTED), TIMEBASE_STATUS_UNRELIABLE);
        assert_is(next(status, STATUS_UNSYNCHRONIZED), TIMEBASE_STATUS_FREERUNNING);
        assert_is(next(status, STATUS_SYNCHRONIZED_AGAIN), TIMEBASE_STATUS_SYNCHRONIZED);
    }
}

/* The promise about UTC: only a sample of a reference that makes it begins it. */
static void only_a_good_sample_makes_synchronized(void **state)
{
    (void)state;
    for (int status = 0; status < STATUSES; status++)
        for (int event = 0; event < STATUS_EVENTS; event++) {
            bool is_good = event == STATUS_SYNCHRONIZED_ONCE || event == STATUS_SYNCHRONIZED_AGAIN;
            bool may_stay = status == TIMEBASE_STATUS_SYNCHRONIZED &&
                (event == STATUS_MISSED || event == STATUS_ROUGH);
            if (!is_good && !may_stay)
                assert_int_not_equal(next(status, (enum status_event)event),
                                     TIMEBASE_STATUS_SYNCHRONIZED);
        }
}

static void no_sample_makes_nothing_better(void **state)
{
    (void)state;
    for (int status = 0; status < STATUSES; status++) {
        bool had_lines =
            status == TIMEBASE_STATUS_SYNCHRONIZED || status == TIMEBASE_STATUS_INITIALIZING;
        assert_is(next(status, STATUS_MISSED), status);
        assert_is(next(status, STATUS_LOST), had_lines ? TIMEBASE_STATUS_FREERUNNING : status);
    }
}

static void one_good_sample_after_bad_ones_may_be_chance(void **state)
{
    (void)state;
    assert_is(next(TIMEBASE_STATUS_FREERUNNING, STATUS_SYNCHRONIZED_ONCE),
              TIMEBASE_STATUS_FREERUNNING);
    assert_is(next(TIMEBASE_STATUS_INITIALIZING, STATUS_SYNCHRONIZED_ONCE),
              TIMEBASE_STATUS_SYNCHRONIZED);
}

static void initializing_is_for_new_clocks_only(void **state)
{
    (void)state;
    for (int event = STATUS_ROUGH_UNSYNCHRONIZED; event <= STATUS_ROUGH; event++) {
        assert_is(next(TIMEBASE_STATUS_UNKNOWN, (enum status_event)event),
                  TIMEBASE_STATUS_INITIALIZING);
        assert_is(next(TIMEBASE_STATUS_UNRELIABLE, (enum status_event)event),
                  TIMEBASE_STATUS_INITIALIZING);
        assert_is(next(TIMEBASE_STATUS_FREERUNNING, (enum status_event)event),
                  TIMEBASE_STATUS_FREERUNNING);
    }
    assert_is(next(TIMEBASE_STATUS_SYNCHRONIZED, STATUS_ROUGH), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_is(next(TIMEBASE_STATUS_SYNCHRONIZED, STATUS_ROUGH_UNSYNCHRONIZED),
              TIMEBASE_STATUS_FREERUNNING);
}

struct scene {
    struct simulated_line line;
    struct discipline discipline;
};

static void observe(struct scene *scene)
{
    struct discipline_sample sample = simulated_sample(&scene->line, 100, 50);
    discipline_observe(&scene->discipline, &sample);
    simulated_wait(&scene->line, 100 * MS);
}

static struct scene synchronized_scene(void)
{
    struct scene scene = {.line = simulated_new(0, UINT64_MAX / 5 * 2)};
    for (int i = 0; i < 20; i++)
        observe(&scene);
    assert_is((int)discipline_status(&scene.discipline), TIMEBASE_STATUS_SYNCHRONIZED);
    return scene;
}

static int hold_after(struct scene *scene, uint64_t silence_ns)
{
    uint64_t ticks = scene->discipline.estimator.newest.ticks;
    for (; silence_ns > SECOND; silence_ns -= SECOND)
        ticks += fixed_ticks(scene->line.period, SECOND);
    ticks += fixed_ticks(scene->line.period, silence_ns);
    discipline_hold(&scene->discipline, ticks);
    return (int)discipline_status(&scene->discipline);
}

static void a_reference_that_misses_a_turn_is_not_lost_but_one_silent_for_long_is(void **state)
{
    struct scene scene = synchronized_scene();
    (void)state;
    assert_is(hold_after(&scene, ASSUME_LOST_NS - MS), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_is(hold_after(&scene, ASSUME_LOST_NS + MS), TIMEBASE_STATUS_FREERUNNING);
    observe(&scene);
    observe(&scene);
    assert_is((int)discipline_status(&scene.discipline), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* 16 s at 550 ppm take 8 hours: until then the bound is worth something, and holds. */
static void a_lost_reference_is_unknown_only_when_the_bound_is_useless(void **state)
{
    struct scene scene = synchronized_scene();
    (void)state;
    assert_is(hold_after(&scene, (uint64_t)29000 * SECOND), TIMEBASE_STATUS_FREERUNNING);
    assert_is(hold_after(&scene, (uint64_t)29200 * SECOND), TIMEBASE_STATUS_UNKNOWN);
}

static void a_hold_says_whether_there_is_anything_to_tell(void **state)
{
    struct scene scene = synchronized_scene();
    uint64_t now = scene.line.now_ticks;
    (void)state;
    assert_false(discipline_hold(&scene.discipline, now));
    now += 10 * fixed_ticks(scene.line.period, SECOND);
    assert_true(discipline_hold(&scene.discipline, now));
    assert_false(discipline_hold(&scene.discipline, now));
    struct discipline nothing = {0};
    assert_false(discipline_hold(&nothing, now));
}

static void a_bound_whose_growth_cannot_be_told_is_no_promise(void **state)
{
    struct scene scene = {.line = simulated_new(41, 0)};
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct discipline_sample sample = simulated_sample(&scene.line, 10, 5);
        sample.maxerror_ppb = i < 10 ? 0 : 100000000;
        discipline_observe(&scene.discipline, &sample);
        simulated_wait(&scene.line, 100 * MS);
        if (i == 9)
            assert_is((int)discipline_status(&scene.discipline), TIMEBASE_STATUS_SYNCHRONIZED);
    }
    assert_is((int)discipline_status(&scene.discipline), TIMEBASE_STATUS_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_and_what_misbehaves_is_told_from_any_status),
        cmocka_unit_test(only_a_good_sample_makes_synchronized),
        cmocka_unit_test(no_sample_makes_nothing_better),
        cmocka_unit_test(one_good_sample_after_bad_ones_may_be_chance),
        cmocka_unit_test(initializing_is_for_new_clocks_only),
        cmocka_unit_test(a_reference_that_misses_a_turn_is_not_lost_but_one_silent_for_long_is),
        cmocka_unit_test(a_lost_reference_is_unknown_only_when_the_bound_is_useless),
        cmocka_unit_test(a_hold_says_whether_there_is_anything_to_tell),
        cmocka_unit_test(a_bound_whose_growth_cannot_be_told_is_no_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
