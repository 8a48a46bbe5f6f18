/* SPDX-License-Identifier: MIT */
/* The shared in virtual time: what readers of the page are told, whatever happens. */
#include "cmocka_first.h"

#include "shared_world.h"
#include "unit/dice.h"

#define INTERVAL (250 * MS)

static struct shared_clock shared;

static void start(void)
{
    start_in_world(&shared, INTERVAL);
}

static void the_first_page_is_there_in_milliseconds_and_synchronized_soon(void **state)
{
    (void)state;
    start();
    keep(&shared, 3 * MS);
    assert_true(world.page.seq > 0);
    keep(&shared, 200 * MS);
    assert_int_equal(status_told(), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_true(world.now_ns < 500 * MS);
}

static void publications_come_at_the_interval(void **state)
{
    (void)state;
    start();
    keep(&shared, 2 * SECOND);
    uint64_t before = shared.servo.counts.publications;
    keep(&shared, 10 * SECOND);
    assert_in_range(shared.servo.counts.publications - before, 39, 41);
    assert_true(shared.servo.counts.publications == world.records);
    assert_true(world.page.seq == shared.servo.counts.publications);
}

/* The central claim: a tick means the same to all who have looked within a lease. */
static void a_tick_means_the_same_in_all_copies(void **state)
{
    (void)state;
    start();
    keep(&shared, 10 * SECOND);
    for (int i = 0; i < 40; i++) {
        double change = (i % 5 - 2) * 100e-6;
        world.mono_at -= (int64_t)((double)world.now_ns * change);
        world.mono_rate += change;
        keep(&shared, 300 * MS);
    }
    assert_true(shared.servo.counts.slews > 0);
    assert_true(shared.servo.counts.late_publications == 0);
}

/* Woken at any time, by clocks being set. */
static void a_step_that_comes_early_waits_for_its_moment(void **state)
{
    unsigned early = 0;
    struct dice dice = dice_new();
    (void)state;
    start();
    keep(&shared, SECOND);
    for (int i = 0; i < 2000; i++) {
        enum servo_result result = shared_clock_step(&shared);
        early += result == SERVO_TOO_EARLY;
        pass((int64_t)dice_below(&dice, 90 * MS));
    }
    assert_true(early > 100);
    assert_true(shared.servo.counts.late_publications == 0);
}

static void after_too_early_the_wait_is_to_the_moment(void **state)
{
    (void)state;
    start();
    keep(&shared, SECOND);
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    enum servo_result result = shared_clock_step(&shared);
    assert_int_equal(result, SERVO_TOO_EARLY);
    uint64_t wait = shared_clock_wait_ns(&shared, result);
    assert_in_range(wait, LEAD_NS - MS, LEAD_NS + MS);
    pass((int64_t)wait);
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
}

/* Else it would wait until the counter is there again, half a minute later perhaps. */
static void a_counter_that_went_back_into_the_lines_is_not_waited_for(void **state)
{
    (void)state;
    start();
    keep(&shared, SECOND);
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    world.ticks_at -= (uint64_t)(0.02 * world.hz);
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    assert_int_equal(status_told(), TIMEBASE_STATUS_UNRELIABLE);
}

static void a_late_publication_is_counted_and_told_on_the_page(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    world.delay_ns = LEAD_NS - TIMEBASE_PAGE_LEASE_NS - 2 * MS;
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    assert_true(shared.servo.counts.late_publications == 0);
    pass(INTERVAL);
    world.delay_ns = LEAD_NS - TIMEBASE_PAGE_LEASE_NS + 2 * MS;
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    assert_true(shared.servo.counts.late_publications == 1);
    assert_true(shared.page.late_count == 1);
    assert_true(world.recounts == 1);
}

static void a_step_of_the_clock_is_in_utc_a_lead_later_and_counted(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    world.utc_offset_ns -= 3 * SECOND;
    enum servo_result result;
    while ((result = shared_clock_step(&shared)) == SERVO_TOO_EARLY)
        pass((int64_t)shared_clock_wait_ns(&shared, result));
    assert_true(shared.servo.counts.utc_steps == 1);
    assert_true(shared.servo.counts.last_utc_step_ns == -3 * SECOND);
    assert_true(shared.page.utc_step_count == 1);
    pass(LEAD_NS - MS);
    assert_true(told(&world.page, ticks_now()).utc_ns - told(&world.page, ticks_now()).mono_ns ==
                1700000000 * SECOND);
    pass(2 * MS);
    assert_true(told(&world.page, ticks_now()).utc_ns - told(&world.page, ticks_now()).mono_ns ==
                1699999997 * SECOND);
}

static void a_jump_of_the_counter_is_marked_and_recorded(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    int64_t last = told(&world.page, ticks_now()).mono_ns;
    world.ticks_at -= (uint64_t)1 << 35;
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    assert_true(shared.servo.counts.backwards == 1);
    assert_true(shared.servo.counts.disruptions == 1);
    assert_true(shared.page.disruption_marker == 1);
    assert_true(world.disrupted_records == 1);
    assert_int_equal(status_told(), TIMEBASE_STATUS_UNRELIABLE);
    assert_true(told(&world.page, ticks_now()).mono_ns >= last);
    world.previous.seq = 0; /* readers' copies are of another counter */
    keep(&shared, 5 * SECOND);
    assert_int_equal(status_told(), TIMEBASE_STATUS_SYNCHRONIZED);
}

static void sleep_is_counted_and_is_no_disruption_of_the_counter(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    world.now_ns += 100 * SECOND;
    world.mono_at -= 100 * SECOND;
    world.suspended_ns += 100 * SECOND;
    world.previous.seq = 0;
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    assert_true(shared.servo.counts.suspends == 1);
    assert_true(shared.servo.counts.jumps == 0);
    assert_true(shared.page.disruption_marker == 1);
    world.previous.seq = 0;
    keep(&shared, 5 * SECOND);
}

/* vmclock, or the clocksource: the counter looks as always. */
static void a_disruption_that_others_tell_makes_the_page_unreliable(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    uint32_t rate = world.page.copy[world.page.seq & 1].after.drift_rate;
    servo_disrupt(&shared.servo);
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    assert_true(shared.servo.counts.disruptions == 1);
    assert_true(shared.page.disruption_marker == 1);
    pass(LEAD_NS + MS);
    assert_int_equal(status_told(), TIMEBASE_STATUS_UNRELIABLE);
    assert_true(world.page.copy[world.page.seq & 1].after.drift_rate > 5 * rate);
    keep(&shared, 3 * SECOND);
    assert_int_equal(status_told(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* The same lines for longer: no tick changes its meaning, and at last readers are told. */
static void a_lost_reference_is_counted_and_the_lines_are_held(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    uint64_t seq = world.page.seq;
    struct timebase_line present = world.page.copy[seq & 1].after;
    world.is_reference_lost = true;
    keep(&shared, 2 * SECOND);
    assert_true(world.page.seq > seq + 10);
    struct timebase_line held = world.page.copy[world.page.seq & 1].after;
    assert_true(held.start_ticks == present.start_ticks && held.mono_ns == present.mono_ns);
    assert_in_range(shared.servo.counts.reference_failures, 15, 25);
    assert_int_equal(status_told(), TIMEBASE_STATUS_SYNCHRONIZED);
    keep(&shared, 4 * SECOND);
    assert_int_equal(status_told(), TIMEBASE_STATUS_FREERUNNING);
    assert_true(mono_now() - shared.servo.published_ns < 200 * MS);
    assert_true(shared.servo.counts.late_publications == 0);
    world.is_reference_lost = false;
    keep(&shared, 2 * SECOND);
    assert_int_equal(status_told(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* A clocksource that is not fine gives no samples either. */
static void a_disruption_that_is_told_while_the_reference_fails_is_told_at_once(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    world.is_reference_lost = true;
    servo_disrupt(&shared.servo);
    assert_int_equal(shared_clock_step(&shared), SERVO_NO_REFERENCE);
    assert_int_equal(status_told(), TIMEBASE_STATUS_UNRELIABLE);
    assert_true(world.page.disruption_marker == 1);
    keep(&shared, 8 * SECOND);
    assert_int_equal(status_told(), TIMEBASE_STATUS_UNRELIABLE);
    world.is_reference_lost = false;
    shared_clock_step(&shared);
    assert_int_equal(status_told(), TIMEBASE_STATUS_UNRELIABLE);
    keep(&shared, 3 * SECOND);
    assert_int_equal(status_told(), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_true(shared.servo.counts.disruptions == 1);
    assert_true(world.disrupted_records == 1);
}

/* What is held is of before; the mark comes with the first lines of after. */
static void lines_that_are_held_do_not_take_the_mark_of_a_disruption(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    world.is_store_lost = true;
    servo_disrupt(&shared.servo);
    keep(&shared, 300 * MS);
    world.is_store_lost = false;
    world.is_reference_lost = true;
    keep(&shared, SECOND);
    assert_true(world.disrupted_records == 0);
    world.is_reference_lost = false;
    keep(&shared, SECOND);
    assert_true(world.disrupted_records == 1);
}

/* What readers do not have is not gone on from. */
static void a_page_that_could_not_be_stored_is_as_if_it_had_not_been_planned(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    struct timebase_page before = world.page;
    world.is_store_lost = true;
    for (int i = 0; i < 20; i++) {
        enum servo_result result = shared_clock_step(&shared);
        assert_int_not_equal(result, SERVO_PUBLISHED);
        pass((int64_t)shared_clock_wait_ns(&shared, result));
    }
    assert_true(shared.servo.counts.store_failures > 10);
    assert_true(shared.page.seq == before.seq);
    world.is_store_lost = false;
    keep(&shared, 2 * SECOND);
    assert_true(world.page.seq > before.seq);
}

static void a_jump_that_could_not_be_published_is_published_later(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    world.is_store_lost = true;
    world.ticks_at += (uint64_t)10 * 2600000000;
    world.previous.seq = 0;
    assert_int_equal(shared_clock_step(&shared), SERVO_NOT_STORED);
    world.is_store_lost = false;
    world.now_ns += 100 * MS;
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    assert_true(world.disrupted_records == 1);
    world.previous.seq = 0;
    world.now_ns += 100 * MS;
    struct timebase_instant now = told(&world.page, ticks_now());
    assert_true(now.mono_ns - mono_now() < SECOND);
}

/* ---- between the first two samples, a millisecond apart -------------------------------------- */

static void asleep_before_there_are_lines_is_no_pace(void **state)
{
    (void)state;
    start();
    assert_int_equal(shared_clock_step(&shared), SERVO_LEARNING);
    world.now_ns += 100 * SECOND;
    world.mono_at -= 100 * SECOND - 2 * MS;
    world.suspended_ns += 100 * SECOND;
    keep(&shared, 5 * SECOND);
    assert_int_equal(status_told(), TIMEBASE_STATUS_SYNCHRONIZED);
}

static void a_jump_before_there_are_lines_is_no_pace(void **state)
{
    (void)state;
    start();
    assert_int_equal(shared_clock_step(&shared), SERVO_LEARNING);
    world.ticks_at += (uint64_t)world.hz * 30;
    world.now_ns += 2 * MS;
    keep(&shared, 5 * SECOND);
    assert_int_equal(status_told(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* ---- drift --------------------------------------------------------------------------------- */

static uint32_t drift_told(uint32_t drift_ppb)
{
    start();
    shared_clock_set(&shared, INTERVAL, drift_ppb);
    keep(&shared, 5 * SECOND);
    return world.page.copy[world.page.seq & 1].after.drift_rate;
}

/* A page that is taken up brings lines, and no allowance. */
static void the_allowance_outlives_a_restart(void **state)
{
    (void)state;
    uint32_t large = drift_told(250000);
    struct shared_clock_outside outside = outside_of_world(NULL);
    shared_clock_start(&shared, &outside, INTERVAL, 250000);
    assert_true(shared_clock_adopt(&shared, &world.page));
    keep(&shared, 5 * SECOND);
    uint32_t again = world.page.copy[world.page.seq & 1].after.drift_rate;
    assert_true(again > large * 0.9);
}

static void the_allowance_for_the_oscillator_is_in_the_lines(void **state)
{
    (void)state;
    uint32_t usual = drift_told(50000), large = drift_told(250000);
    /* 200 ppm of a tick of 1 / 2.6 ns, in 2^-32 ns. */
    double expected = 200e-6 / 2.6 * 4294967296.0;
    assert_true(large - usual > expected * 0.99 && large - usual < expected * 1.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_page_is_there_in_milliseconds_and_synchronized_soon),
        cmocka_unit_test(publications_come_at_the_interval),
        cmocka_unit_test(a_tick_means_the_same_in_all_copies),
        cmocka_unit_test(a_step_that_comes_early_waits_for_its_moment),
        cmocka_unit_test(after_too_early_the_wait_is_to_the_moment),
        cmocka_unit_test(a_counter_that_went_back_into_the_lines_is_not_waited_for),
        cmocka_unit_test(a_late_publication_is_counted_and_told_on_the_page),
        cmocka_unit_test(a_step_of_the_clock_is_in_utc_a_lead_later_and_counted),
        cmocka_unit_test(a_jump_of_the_counter_is_marked_and_recorded),
        cmocka_unit_test(sleep_is_counted_and_is_no_disruption_of_the_counter),
        cmocka_unit_test(a_disruption_that_others_tell_makes_the_page_unreliable),
        cmocka_unit_test(a_lost_reference_is_counted_and_the_lines_are_held),
        cmocka_unit_test(a_disruption_that_is_told_while_the_reference_fails_is_told_at_once),
        cmocka_unit_test(lines_that_are_held_do_not_take_the_mark_of_a_disruption),
        cmocka_unit_test(a_page_that_could_not_be_stored_is_as_if_it_had_not_been_planned),
        cmocka_unit_test(a_jump_that_could_not_be_published_is_published_later),
        cmocka_unit_test(asleep_before_there_are_lines_is_no_pace),
        cmocka_unit_test(a_jump_before_there_are_lines_is_no_pace),
        cmocka_unit_test(the_allowance_for_the_oscillator_is_in_the_lines),
        cmocka_unit_test(the_allowance_outlives_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
