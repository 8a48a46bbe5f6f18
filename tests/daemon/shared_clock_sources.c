/* SPDX-License-Identifier: MIT */
/* The shared clock and its sources, in virtual time: what of their word reaches the page. */
#include "cmocka_first.h"

#include "shared_world.h"
#include "told_source.h"

#define INTERVAL (250 * MS)

static struct shared_clock shared;
static struct sources sources;
static bool is_source_deaf; /* it goes on answering, from what it measured before */

static int start(void **state)
{
    struct settings settings;
    struct problem problem;
    (void)state;
    memset(told_sources, 0, sizeof(told_sources));
    settings_default(&settings);
    settings_set(&settings, SETTINGS_KEY_REFERENCE, "told:0", 6, &problem);
    sources_set_up(&sources, &settings);
    begin_world();
    is_source_deaf = false;
    world.maxerror_ns = 16 * SECOND;
    world.is_synchronized = false;
    struct shared_clock_outside outside = outside_of_world(&sources);
    shared_clock_start(&shared, &outside, INTERVAL, 50000);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    sources_close(&sources);
    return 0;
}

/* As the daemon does it; the source says now what it said at the start. */
static void keep_asking(int64_t ns)
{
    for (int64_t until = world.now_ns + ns; world.now_ns < until;) {
        told_sources[0].claim.mono_ns = mono_now();
        if (!is_source_deaf)
            told_sources[0].claim.measured_ns = mono_now();
        sources_ask(&sources, mono_now());
        enum servo_result result = shared_clock_step(&shared);
        pass((int64_t)shared_clock_wait_ns(&shared, result));
    }
}

static void say(int64_t offset_ns, uint64_t error_ns)
{
    told_sources[0].claim.offset_ns = offset_ns;
    told_sources[0].claim.error_ns = error_ns;
    told_sources[0].claim.is_synchronized = true;
}

static struct timebase_instant now(void)
{
    return told(&world.page, ticks_now());
}

static uint32_t status(void)
{
    return now().flags & TIMEBASE_LINE_STATUS_MASK;
}

static void their_word_is_on_the_page_with_what_it_has_grown(void **state)
{
    (void)state;
    say(-200000, 100000);
    keep_asking(3 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_in_range(now().utc_maxerror_ns, 300000, 600000);
}

static void without_an_answer_the_kernels_word_is_an_estimate(void **state)
{
    (void)state;
    told_sources[0].claim_error = TIMEBASE_E_REFERENCE;
    keep_asking(3 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_FREERUNNING);
    assert_true(now().utc_maxerror_ns >= (uint64_t)(16 * SECOND));
}

static void a_step_voids_what_was_said_before(void **state)
{
    (void)state;
    say(0, 1000);
    keep_asking(3 * SECOND);
    world.utc_offset_ns += 10 * SECOND;
    told_sources[0].claim_error = TIMEBASE_E_BUSY; /* the answer to come takes its time */
    for (int i = 0; i < 3; i++) {
        sources_ask(&sources, mono_now());
        pass((int64_t)shared_clock_wait_ns(&shared, shared_clock_step(&shared)));
    }
    assert_int_equal(status(), TIMEBASE_STATUS_FREERUNNING);
    assert_true(now().utc_maxerror_ns >= (uint64_t)(16 * SECOND));
    told_sources[0].claim_error = TIMEBASE_OK;
    keep_asking(SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* vmclock's marker: nothing else has changed. */
static void a_disruption_that_a_source_tells_is_on_the_page(void **state)
{
    (void)state;
    say(0, 1000);
    told_sources[0].claim.disruption_marker = 5;
    keep_asking(3 * SECOND);
    assert_true(world.page.disruption_marker == 0);
    assert_true(world.page.vmclock_marker == 5);
    told_sources[0].claim.disruption_marker = 6;
    keep_asking(1300 * MS);
    assert_true(world.page.disruption_marker == 1);
    assert_true(world.page.vmclock_marker == 6);
    assert_true(shared.servo.counts.disruptions == 1);
}

/* The page that tells of the move has lines from after it: readers believe these. */
static void a_page_accounts_for_no_move_that_it_does_not_publish(void **state)
{
    (void)state;
    say(0, 1000);
    told_sources[0].claim.disruption_marker = 5;
    keep_asking(3 * SECOND);
    told_sources[0].claim.disruption_marker = 6;
    sources.list[0].due_ns = mono_now();
    sources_ask(&sources, mono_now());
    assert_true(shared.page.vmclock_marker == 5);
    while (world.page.vmclock_marker == 5) {
        assert_true(world.page.disruption_marker == 0);
        pass((int64_t)shared_clock_wait_ns(&shared, shared_clock_step(&shared)));
    }
    assert_true(world.page.vmclock_marker == 6);
    assert_true(world.page.disruption_marker == 1);
}

static void a_page_of_a_daemon_that_hears_no_marker_tells_none(void **state)
{
    (void)state;
    say(0, 1000);
    sources.marker = 5; /* of the daemon before */
    keep_asking(3 * SECOND);
    assert_true(world.page.vmclock_marker == 0);
    assert_true(world.page.disruption_marker == 0);
}

/* What was learnt of UTC before the machine was copied is about another machine. */
static void a_disruption_voids_what_was_said_before_it(void **state)
{
    (void)state;
    say(0, 1000);
    told_sources[0].claim.disruption_marker = 5;
    keep_asking(3 * SECOND);
    shared_clock_disrupt(&shared);
    shared_clock_step(&shared);
    assert_false(sources.list[0].has_claim);
    assert_true(shared.servo.discipline.sample.maxerror_ns >= 16 * SECOND);
    keep_asking(3 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
}

static void assert_not_believed(void)
{
    assert_int_equal(status(), TIMEBASE_STATUS_FREERUNNING);
    assert_true(now().flags & TIMEBASE_LINE_ESTIMATE);
    assert_true(now().utc_maxerror_ns >= (uint64_t)(16 * SECOND));
    assert_true(sources.list[0].is_up && sources.list[0].is_outdated);
}

static void assert_believed(void)
{
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_false(now().flags & TIMEBASE_LINE_ESTIMATE);
    assert_false(sources.list[0].is_outdated);
}

/* As chronyd between two polls of its servers. */
static void live_with_a_deaf_source(void)
{
    say(0, 1000);
    keep_asking(3 * SECOND);
    assert_believed();
    is_source_deaf = true;
    keep_asking(20 * SECOND);
    assert_believed();
}

/* It is not believed, until it has measured: then it is, at once and for as long as it likes. */
static void find_it_disrupted(void)
{
    keep_asking(20 * SECOND);
    assert_not_believed();
    told_sources[0].claim.measured_ns = mono_now();
    keep_asking(3 * SECOND);
    assert_believed();
    keep_asking(20 * SECOND);
    assert_believed();
}

static void who_has_not_measured_since_a_disruption_is_not_believed(void **state)
{
    (void)state;
    live_with_a_deaf_source();
    shared_clock_disrupt(&shared);
    find_it_disrupted();
}

/* vmclock's, beside chrony: the one tells of the move, the other's answer is of before. */
static void a_marker_voids_what_was_measured_before_it(void **state)
{
    (void)state;
    say(0, 1000);
    told_sources[0].claim.disruption_marker = 5;
    live_with_a_deaf_source();
    told_sources[0].claim.disruption_marker = 6;
    find_it_disrupted();
}

/* kvm-clock stood still, and the counter did not. */
static void a_jump_voids_what_was_measured_before_it(void **state)
{
    (void)state;
    live_with_a_deaf_source();
    world.ticks_at += (uint64_t)3 * 2600000000;
    world.previous.seq = 0;
    world.page.seq = 0;
    shared_clock_step(&shared);
    assert_int_equal(shared.servo.counts.jumps, 1);
    find_it_disrupted();
}

static void sleep_voids_what_was_measured_before_it(void **state)
{
    (void)state;
    live_with_a_deaf_source();
    world.suspended_ns += 3 * SECOND;
    find_it_disrupted();
}

static void a_disruption_while_the_reference_fails_voids_claims_too(void **state)
{
    (void)state;
    live_with_a_deaf_source();
    world.is_reference_lost = true;
    shared_clock_disrupt(&shared);
    keep_asking(SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_UNRELIABLE);
    world.is_reference_lost = false;
    find_it_disrupted();
}

/* Nobody waits for a sample that does not come. */
static void a_marker_while_the_reference_fails_is_told(void **state)
{
    (void)state;
    told_sources[0].claim.disruption_marker = 5;
    live_with_a_deaf_source();
    world.is_reference_lost = true;
    keep_asking(2 * SECOND);
    told_sources[0].claim.disruption_marker = 6;
    keep_asking(2 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_UNRELIABLE);
    world.is_reference_lost = false;
    find_it_disrupted();
}

/* A step is known to who made it, and a stall of the daemon is no move. */
static void a_step_or_a_stall_asks_for_no_measurement(void **state)
{
    (void)state;
    live_with_a_deaf_source();
    world.utc_offset_ns -= 10 * SECOND;
    keep_asking(3 * SECOND);
    assert_believed();
    sources_forget(&sources, mono_now());
    keep_asking(3 * SECOND);
    assert_believed();
}

/* The measurement that shows the move is of after it, and needs no other. */
static void who_has_shown_a_move_is_believed(void **state)
{
    (void)state;
    live_with_a_deaf_source();
    told_sources[0].claim.measured_ns = mono_now();
    say(-3 * SECOND, 1000);
    shared_clock_step(&shared);
    keep_asking(3 * SECOND);
    assert_int_equal(shared.servo.counts.disruptions, 1);
    assert_believed();
    assert_true(now().utc_maxerror_ns >= (uint64_t)(3 * SECOND));
    keep_asking(20 * SECOND);
    assert_believed();
    shared_clock_disrupt(&shared);
    keep_asking(SECOND);
    assert_not_believed();
}

/* A PTP clock, and chronyd that polls now and then. */
static void follow_two(void)
{
    struct settings settings;
    struct problem problem;
    settings_default(&settings);
    settings_set(&settings, SETTINGS_KEY_REFERENCE, "told:0", 6, &problem);
    settings_set(&settings, SETTINGS_KEY_REFERENCE, "told:1", 6, &problem);
    sources_close(&sources);
    sources_set_up(&sources, &settings);
    say(0, 1000);
    told_sources[1].claim =
        (struct claim){.error_ns = MS, .measured_ns = mono_now(), .is_synchronized = true};
}

/* At each step: how often the page was UNRELIABLE, and how often it promised UTC. */
static void live_with_two(int64_t ns, unsigned *unreliable, unsigned *promised)
{
    *unreliable = *promised = 0;
    for (int64_t until = world.now_ns + ns; world.now_ns < until;) {
        told_sources[1].claim.mono_ns = mono_now();
        keep_asking(INTERVAL);
        *unreliable += status() == TIMEBASE_STATUS_UNRELIABLE;
        *promised += status() == TIMEBASE_STATUS_SYNCHRONIZED &&
            !(now().flags & TIMEBASE_LINE_ESTIMATE);
    }
}

/* Two against each other are no majority. But what the one shows is told; it is not believed alone
 * where the other answers; and the other tells nothing new when it has measured. */
static void a_move_that_one_of_two_shows_is_told_once(void **state)
{
    unsigned unreliable, promised;
    (void)state;
    follow_two();
    live_with_two(20 * SECOND, &unreliable, &promised);
    assert_int_equal(unreliable, 0);
    assert_true(promised > 60);
    say(-3 * SECOND, 1000);
    live_with_two(20 * SECOND, &unreliable, &promised);
    assert_true(unreliable > 0);
    assert_int_equal(world.page.disruption_marker, 1);
    assert_int_equal(status(), TIMEBASE_STATUS_FREERUNNING);
    assert_true(promised <= 10); /* the second in which it was not asked yet */
    told_sources[1].claim.offset_ns = -3 * SECOND;
    told_sources[1].claim.measured_ns = mono_now();
    live_with_two(20 * SECOND, &unreliable, &promised);
    assert_int_equal(unreliable, 0);
    assert_true(promised > 60);
    assert_int_equal(world.page.disruption_marker, 1);
}

/* Not with the step after it: the claims of this one would promise what nobody knows. */
static void a_parting_is_told_with_the_sample_that_shows_it(void **state)
{
    (void)state;
    say(0, 1000);
    keep_asking(3 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
    say(-3 * SECOND, 1000);
    told_sources[0].claim.mono_ns = told_sources[0].claim.measured_ns = mono_now();
    sources.list[0].due_ns = mono_now();
    sources_ask(&sources, mono_now());
    assert_int_equal(shared_clock_step(&shared), SERVO_PUBLISHED);
    assert_int_equal(status(), TIMEBASE_STATUS_UNRELIABLE);
    assert_int_equal(world.page.disruption_marker, 1);
    keep_asking(5 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_int_equal(world.page.disruption_marker, 1);
}

/* It was false, and the other is right: found out when that has measured. */
static void one_of_two_that_is_stepped_is_not_believed_alone(void **state)
{
    unsigned unreliable, promised;
    (void)state;
    follow_two();
    live_with_two(20 * SECOND, &unreliable, &promised);
    say(-3 * SECOND, 1000);
    live_with_two(20 * SECOND, &unreliable, &promised);
    told_sources[1].claim.measured_ns = mono_now();
    live_with_two(20 * SECOND, &unreliable, &promised);
    assert_int_equal(promised, 0);
    told_sources[1].claim_error = TIMEBASE_E_REFERENCE; /* whom nobody contradicts is believed */
    live_with_two(20 * SECOND, &unreliable, &promised);
    assert_true(promised > 40);
}

/* The discipline knows of it, whoever announced it. */
static void a_leap_second_is_in_the_bound_on_the_page(void **state)
{
    const int64_t day_ns = 86400 * SECOND;
    (void)state;
    say(0, 1000);
    world.utc_offset_ns = 20000 * day_ns - mono_now() - 10 * SECOND; /* midnight is 10 s away */
    world.flags = TIMEBASE_LINE_LEAP_INSERT;
    keep_asking(5 * SECOND);
    assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_true(now().utc_maxerror_ns < (uint64_t)MS);
    assert_true(shared.servo.discipline.leap.step_ns == -SECOND);
    keep_asking(4900 * MS);
    assert_true(now().utc_maxerror_ns >= (uint64_t)SECOND);
    keep_asking(200 * MS);
    world.utc_offset_ns -= SECOND;
    world.flags = 0;
    told_sources[0].claim_error = TIMEBASE_E_BUSY; /* an answer takes its time */
    for (int i = 0; i < 40; i++) {
        keep_asking(100 * MS);
        assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
        assert_false(now().flags & TIMEBASE_LINE_ESTIMATE);
        assert_true(now().utc_maxerror_ns < (uint64_t)(SECOND + 10 * MS));
        if (i == 9)
            told_sources[0].claim_error = TIMEBASE_OK;
    }
    assert_true(shared.servo.counts.leaps == 1);
    assert_true(now().utc_maxerror_ns < (uint64_t)MS);
}

/* A step of another size, or at another time, is no leap second. */
static void a_step_that_was_not_announced_voids_claims(void **state)
{
    const int64_t day_ns = 86400 * SECOND;
    (void)state;
    for (int i = 0; i < 2; i++) {
        say(0, 1000);
        world.utc_offset_ns = 20000 * day_ns - mono_now() - 10 * SECOND;
        world.flags = TIMEBASE_LINE_LEAP_INSERT;
        keep_asking((i == 0 ? 5 : 11) * SECOND);
        assert_int_equal(status(), TIMEBASE_STATUS_SYNCHRONIZED);
        world.utc_offset_ns -= SECOND + i * MS;
        told_sources[0].claim_error = TIMEBASE_E_BUSY;
        keep_asking(INTERVAL);
        assert_int_equal(status(), TIMEBASE_STATUS_FREERUNNING);
        told_sources[0].claim_error = TIMEBASE_OK;
        world.flags = 0;
        finish(NULL);
        start(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(their_word_is_on_the_page_with_what_it_has_grown, start,
                                        finish),
        cmocka_unit_test_setup_teardown(without_an_answer_the_kernels_word_is_an_estimate, start,
                                        finish),
        cmocka_unit_test_setup_teardown(a_step_voids_what_was_said_before, start, finish),
        cmocka_unit_test_setup_teardown(a_disruption_that_a_source_tells_is_on_the_page, start,
                                        finish),
        cmocka_unit_test_setup_teardown(a_disruption_voids_what_was_said_before_it, start, finish),
        cmocka_unit_test_setup_teardown(who_has_not_measured_since_a_disruption_is_not_believed,
                                        start, finish),
        cmocka_unit_test_setup_teardown(a_page_accounts_for_no_move_that_it_does_not_publish, start,
                                        finish),
        cmocka_unit_test_setup_teardown(a_page_of_a_daemon_that_hears_no_marker_tells_none, start,
                                        finish),
        cmocka_unit_test_setup_teardown(a_marker_voids_what_was_measured_before_it, start, finish),
        cmocka_unit_test_setup_teardown(a_jump_voids_what_was_measured_before_it, start, finish),
        cmocka_unit_test_setup_teardown(sleep_voids_what_was_measured_before_it, start, finish),
        cmocka_unit_test_setup_teardown(a_disruption_while_the_reference_fails_voids_claims_too,
                                        start, finish),
        cmocka_unit_test_setup_teardown(a_marker_while_the_reference_fails_is_told, start, finish),
        cmocka_unit_test_setup_teardown(a_step_or_a_stall_asks_for_no_measurement, start, finish),
        cmocka_unit_test_setup_teardown(who_has_shown_a_move_is_believed, start, finish),
        cmocka_unit_test_setup_teardown(a_move_that_one_of_two_shows_is_told_once, start, finish),
        cmocka_unit_test_setup_teardown(a_parting_is_told_with_the_sample_that_shows_it, start,
                                        finish),
        cmocka_unit_test_setup_teardown(one_of_two_that_is_stepped_is_not_believed_alone, start,
                                        finish),
        cmocka_unit_test_setup_teardown(a_leap_second_is_in_the_bound_on_the_page, start, finish),
        cmocka_unit_test_setup_teardown(a_step_that_was_not_announced_voids_claims, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
