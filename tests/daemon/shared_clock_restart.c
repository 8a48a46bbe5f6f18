/* SPDX-License-Identifier: MIT */
/* A daemon that finds a page: what it takes up, and goes on from. */
#include "cmocka_first.h"

#include "shared_world.h"

#define INTERVAL (250 * MS)

static struct shared_clock shared;

static void start(void)
{
    start_in_world(&shared, INTERVAL);
}

static bool restart_after(int64_t ns)
{
    struct shared_clock_outside outside = outside_of_world(NULL);
    pass(ns);
    shared_clock_start(&shared, &outside, INTERVAL, 50000);
    return shared_clock_adopt(&shared, &world.page);
}

static void a_daemon_that_comes_back_goes_on_without_a_gap(void **state)
{
    static const int64_t gaps_ns[] = {0, 10 * MS, 29 * MS, 100 * MS, 5 * SECOND, 600 * SECOND};
    (void)state;
    for (size_t i = 0; i < sizeof(gaps_ns) / sizeof(gaps_ns[0]); i++) {
        start();
        keep(&shared, 5 * SECOND);
        shared_clock_step(&shared);
        uint64_t seq = world.page.seq;
        int64_t last = told(&world.page, ticks_now()).mono_ns;
        assert_true(restart_after(gaps_ns[i]));
        assert_true(told(&shared.page, ticks_now()).mono_ns >= last);
        keep(&shared, SECOND); /* readers agree, and the bound holds */
        assert_true(world.page.seq > seq);
        assert_true(shared.servo.counts.utc_steps == 0);
    }
}

static void a_step_while_there_was_no_daemon_is_counted(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    world.utc_offset_ns += 7;
    assert_true(restart_after(SECOND));
    keep(&shared, SECOND);
    assert_true(shared.servo.counts.utc_steps == 1);
    assert_true(shared.servo.counts.last_utc_step_ns == 7);
    assert_true(shared.page.utc_step_count == 1);
}

static void a_page_of_another_time_is_not_taken_up(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    struct world good = world;
    world.mono_at -= 100 * SECOND; /* another time namespace */
    struct shared_clock_outside outside = outside_of_world(NULL);
    shared_clock_start(&shared, &outside, INTERVAL, 50000);
    assert_false(shared_clock_adopt(&shared, &world.page));
    world = good;
    world.mono_at += 100 * SECOND;
    assert_false(shared_clock_adopt(&shared, &world.page));
    world = good;
    world.ticks_at -= (uint64_t)100 * 2600000000; /* the counter began again */
    assert_false(shared_clock_adopt(&shared, &world.page));
    world = good;
    assert_true(shared_clock_adopt(&shared, &world.page));
}

/* The machine slept, or the counter jumped, while there was no daemon. */
static bool restart_parted_by(int64_t ns)
{
    start();
    keep(&shared, 5 * SECOND);
    pass(60 * SECOND);
    world.mono_at += ns;
    return restart_after(0);
}

static void a_page_that_is_beyond_its_own_bound_is_not_taken_up(void **state)
{
    (void)state;
    assert_false(restart_parted_by(-5 * SECOND));
    assert_false(restart_parted_by(5 * SECOND));
    assert_false(restart_parted_by(-40 * MS)); /* in a minute 550 ppm are 33 ms */
    assert_true(restart_parted_by(-30 * MS));
    assert_true(restart_parted_by(30 * MS));
    assert_false(restart_parted_by(-5 * SECOND));
    world.page.seq = 0; /* nobody follows what was there */
    keep(&shared, SECOND);
    assert_int_equal(status_told(), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_true(told(&world.page, ticks_now()).maxerror_ns < (uint64_t)MS);
}

/* After a jump they may be off by as much as readers have followed the old ones, and are slewed. */
static void lines_that_are_off_on_purpose_are_taken_up_as_they_are(void **state)
{
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    world.ticks_at += (uint64_t)(world.hz * 0.2); /* within the lines in force: they are ahead */
    world.previous.seq = 0;
    shared_clock_step(&shared);
    world.previous.seq = 0;
    keep(&shared, 3 * SECOND);
    int64_t last = told(&world.page, ticks_now()).mono_ns;
    assert_true(last - mono_now() > 10 * MS);
    assert_true(restart_after(SECOND));
    shared_clock_step(&shared);
    assert_int_equal(shared.servo.counts.disruptions, 0);
    assert_true(told(&world.page, ticks_now()).mono_ns >= last);
    keep(&shared, 3 * SECOND);
    assert_int_equal(status_told(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* The counter has jumped over what was left of a line, and back to where nobody ever was. */
static void a_page_whose_lines_have_not_begun_is_not_taken_up(void **state)
{
    uint64_t leap = (uint64_t)40 * 2600000000;
    (void)state;
    start();
    keep(&shared, 5 * SECOND);
    world.ticks_at += leap;
    world.previous.seq = 0;
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    world.previous.seq = 0;
    pass(20 * SECOND);
    world.ticks_at -= leap;
    assert_false(restart_after(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_daemon_that_comes_back_goes_on_without_a_gap),
        cmocka_unit_test(a_step_while_there_was_no_daemon_is_counted),
        cmocka_unit_test(a_page_of_another_time_is_not_taken_up),
        cmocka_unit_test(a_page_that_is_beyond_its_own_bound_is_not_taken_up),
        cmocka_unit_test(lines_that_are_off_on_purpose_are_taken_up_as_they_are),
        cmocka_unit_test(a_page_whose_lines_have_not_begun_is_not_taken_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
