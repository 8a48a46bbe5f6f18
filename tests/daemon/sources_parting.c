/* SPDX-License-Identifier: MIT */
/* Sources' clocks that go on while ours does not, or the other way round. */
#include "cmocka_first.h"

#include <timebase/page.h>

#include "told_sources.h"

static void say(unsigned which, int64_t offset_ns, int64_t mono_ns)
{
    told_sources[which].claim.offset_ns = offset_ns;
    told_sources[which].claim.mono_ns = mono_ns;
}

static struct slew no_slew(void)
{
    return (struct slew){.is_known = true, .most_ppb = 500000};
}

/* Counter and kernel's clock resume as they stood: UTC alone has gone on. */
static void a_guest_that_was_stopped_is_seen_by_its_sources_clocks(void **state)
{
    (void)state;
    set_up(1, SECOND);
    sources.read_slew = no_slew;
    for (int64_t now_ns = SECOND; now_ns < 4 * SECOND; now_ns += SECOND / 4) {
        say(0, 0, now_ns);
        sources.list[0].due_ns = now_ns;
        sources_ask(&sources, now_ns);
        apply_at(now_ns);
    }
    assert_true(sources.disruptions == 0);
    say(0, -3 * SECOND, 4 * SECOND);
    sources.list[0].due_ns = 0;
    sources_ask(&sources, 4 * SECOND);
    apply_at(4 * SECOND);
    assert_true(sources.disruptions == 1);
    sources_close(&sources);
}

/* Who shows it has measured since. The third has not, and may agree with the others by chance. */
static void who_shows_the_parting_is_believed_and_others_when_they_measure(void **state)
{
    (void)state;
    set_up(3, SECOND);
    sources.read_slew = no_slew;
    sources_ask(&sources, SECOND);
    apply_at(SECOND);
    for (unsigned i = 0; i < 3; i++)
        say(i, i < 2 ? -3 * SECOND : 0, 4 * SECOND);
    told_sources[0].claim.measured_ns = 4 * SECOND - MS;
    told_sources[1].claim.measured_ns = 4 * SECOND - MS;
    told_sources[2].claim.measured_ns = 3 * SECOND;
    sources_ask(&sources, 4 * SECOND);
    apply_at(4 * SECOND);
    assert_true(sources.disruptions == 1);
    sources_forget(&sources, 4 * SECOND);
    sources_ask(&sources, 4 * SECOND);
    assert_true(sources.list[0].has_claim);
    assert_true(sources.list[1].has_claim);
    assert_true(sources.list[2].is_outdated);
    sources_close(&sources);
}

/* What can have been slewed is no parting, nor what the bounds leave room for. */
static void a_clock_that_is_steered_has_not_parted(void **state)
{
    (void)state;
    set_up(1, SECOND);
    sources.read_slew = no_slew;
    say(0, 0, SECOND);
    sources_ask(&sources, SECOND);
    apply_at(SECOND);
    int64_t most_ns = 2 * MS + (500000 + 50000); /* two bounds, and a second at 550 ppm */
    say(0, most_ns, 2 * SECOND);
    sources_ask(&sources, 2 * SECOND);
    apply_at(2 * SECOND);
    assert_true(sources.disruptions == 0);
    say(0, 2 * most_ns + 2, 3 * SECOND);
    sources_ask(&sources, 3 * SECOND);
    apply_at(3 * SECOND);
    assert_true(sources.disruptions == 1);
    sources_close(&sources);
}

static void a_step_that_is_known_is_no_parting(void **state)
{
    (void)state;
    set_up(1, SECOND);
    sources_ask(&sources, SECOND);
    apply_at(SECOND);
    sources_forget(&sources, 2 * SECOND);
    say(0, -3 * SECOND, 2 * SECOND);
    sources_ask(&sources, 2 * SECOND);
    apply_at(2 * SECOND);
    assert_true(sources.disruptions == 0);
    sources_close(&sources);
}

/* In the sample that shows it, what one measured before and another since have a point in common by
 * chance: UTC is elsewhere. */
static void the_sample_that_shows_a_parting_promises_nothing(void **state)
{
    (void)state;
    set_up(2, SECOND);
    sources.read_slew = no_slew;
    sources_ask(&sources, SECOND);
    assert_true(apply_at(SECOND).is_synchronized);
    say(0, -9 * MS, 2 * SECOND);
    say(1, -4 * MS, 2 * SECOND);
    told_sources[1].claim.error_ns = 5 * MS;
    sources_ask(&sources, 2 * SECOND);
    struct discipline_sample sample = apply_at(2 * SECOND);
    assert_true(sources.disruptions == 1);
    assert_false(sample.is_synchronized);
    assert_true(sample.flags & TIMEBASE_LINE_ESTIMATE);
    sources_close(&sources);
}

/* What an estimate leaves out may be more than what it claims: that two of them change is no
 * parting, whoever votes next. */
static void an_estimate_in_the_place_of_a_bound_has_not_parted(void **state)
{
    (void)state;
    set_up(2, SECOND);
    sources.read_slew = no_slew;
    sources.list[1].driver = &told_estimate;
    told_sources[1].claim.offset_ns = 100 * MS;
    for (int64_t now_ns = SECOND; now_ns < 40 * SECOND; now_ns += SECOND / 2) {
        bool is_bound_heard = now_ns % (10 * SECOND) < 5 * SECOND;
        told_sources[0].claim.is_synchronized = is_bound_heard;
        say(0, 0, now_ns);
        say(1, 100 * MS, now_ns);
        sources.list[0].due_ns = sources.list[1].due_ns = now_ns;
        sources_ask(&sources, now_ns);
        struct discipline_sample sample = apply_at(now_ns);
        assert_int_equal(!(sample.flags & TIMEBASE_LINE_ESTIMATE), is_bound_heard);
    }
    assert_true(sources.disruptions == 0);
    assert_true(sources.disrupted_ns == INT64_MIN);
    sources_close(&sources);
}

/* The estimate that voted meanwhile knows of nothing. */
static void who_was_silent_during_a_stop_shows_it_afterwards(void **state)
{
    (void)state;
    set_up(2, SECOND);
    sources.read_slew = no_slew;
    sources.list[1].driver = &told_estimate;
    for (int64_t now_ns = SECOND; now_ns < 10 * SECOND; now_ns += SECOND) {
        told_sources[0].claim.is_synchronized = now_ns <= 3 * SECOND || now_ns > 8 * SECOND;
        say(0, now_ns > 5 * SECOND ? -3 * SECOND : 0, now_ns);
        say(1, 0, now_ns);
        sources_ask(&sources, now_ns);
        apply_at(now_ns);
        assert_true(sources.disruptions == (now_ns > 8 * SECOND));
    }
    sources_close(&sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guest_that_was_stopped_is_seen_by_its_sources_clocks),
        cmocka_unit_test(a_clock_that_is_steered_has_not_parted),
        cmocka_unit_test(a_step_that_is_known_is_no_parting),
        cmocka_unit_test(who_shows_the_parting_is_believed_and_others_when_they_measure),
        cmocka_unit_test(the_sample_that_shows_a_parting_promises_nothing),
        cmocka_unit_test(an_estimate_in_the_place_of_a_bound_has_not_parted),
        cmocka_unit_test(who_was_silent_during_a_stop_shows_it_afterwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
