/* SPDX-License-Identifier: MIT */
/* What the sources say, and what becomes of a sample. */
#include "cmocka_first.h"

#include "told_sources.h"

static void without_sources_the_kernel_has_its_word(void **state)
{
    (void)state;
    set_up(0, 0);
    sources_ask(&sources, SECOND);
    struct discipline_sample sample = apply_at(SECOND);
    assert_true(sample.is_synchronized);
    assert_in_range(sample.maxerror_ns, KERNEL_ERROR, KERNEL_ERROR + 1);
    assert_string_equal(sources.list[0].name, "kernel");
    assert_true(sources_due_ns(&sources) == INT64_MAX);
}

static void a_source_that_never_answered_leaves_the_kernels_word_as_an_estimate(void **state)
{
    (void)state;
    set_up(1, SECOND);
    told_sources[0].claim_error = TIMEBASE_E_REFERENCE;
    sources_ask(&sources, SECOND);
    struct discipline_sample sample = apply_at(SECOND);
    assert_true(sample.maxerror_ns == KERNEL_ERROR);
    assert_false(sample.is_synchronized);
    assert_false(sources.list[0].is_up);
    sources_close(&sources);
}

/* chronyd without a source says so, while the kernel still shows what it was told before. */
static void a_source_that_knows_nothing_leaves_the_kernels_word_as_an_estimate(void **state)
{
    (void)state;
    set_up(1, SECOND);
    told_sources[0].claim.error_ns = UINT64_MAX;
    told_sources[0].claim.is_synchronized = false;
    sources_ask(&sources, SECOND);
    struct discipline_sample sample = apply_at(SECOND);
    assert_true(sources.list[0].is_up);
    assert_true(sample.maxerror_ns == KERNEL_ERROR);
    assert_false(sample.is_synchronized);
    sources_close(&sources);
}

static void an_argument_that_is_refused_is_named_by_its_place(void **state)
{
    struct settings settings;
    struct problem problem;
    (void)state;
    memset(told_sources, 0, sizeof(told_sources));
    settings_default(&settings);
    assert_int_equal(settings_set(&settings, SETTINGS_KEY_REFERENCE, "told:0", 6, &problem), 0);
    told_sources[0].open_error = TIMEBASE_E_REFERENCE; /* not there now */
    assert_int_equal(sources_check(&settings, "FILE", &problem), 0);
    told_sources[0].open_error = TIMEBASE_E_INVALID;
    assert_int_equal(sources_check(&settings, "FILE", &problem), -1);
    assert_string_equal(problem.text, "--reference: told:0: told not to open");
    settings.source_lines[0] = 7;
    assert_int_equal(sources_check(&settings, "FILE", &problem), -1);
    assert_string_equal(problem.text, "FILE:7: reference: told:0: told not to open");
    told_sources[0].open_error = TIMEBASE_OK;
    assert_int_equal(sources_check(&settings, "FILE", &problem), 0);
    assert_int_equal(told_sources[0].closed, 4); /* each time, as claim.h has it */
}

static void a_claim_replaces_the_kernels_word_and_grows_with_age(void **state)
{
    (void)state;
    set_up(1, SECOND);
    told_sources[0].claim.offset_ns = -3 * MS;
    told_sources[0].claim.dispersion_ppb = 10000;
    sources_ask(&sources, SECOND);
    assert_in_range(apply_at(SECOND).maxerror_ns, 4 * MS, 4 * MS + 2);
    /* 50 ppm of the oscillator and 10 of the source, in 2 s. */
    assert_in_range(apply_at(3 * SECOND).maxerror_ns, 4 * MS + 120000, 4 * MS + 120002);
    assert_true(apply_at(3 * SECOND).is_synchronized);
    assert_string_equal(told_sources[0].argument, "0");
    sources_close(&sources);
    assert_int_equal(told_sources[0].closed, 1);
}

static void each_is_asked_once_a_second(void **state)
{
    (void)state;
    set_up(1, 0);
    for (int64_t now = SECOND; now < 11 * SECOND; now += 50 * MS)
        sources_ask(&sources, now);
    assert_int_equal(told_sources[0].asked, 10);
    assert_int_equal(told_sources[0].opened, 1);
    sources_close(&sources);
}

static void one_that_is_busy_is_asked_again_soon(void **state)
{
    (void)state;
    set_up(1, 0);
    told_sources[0].claim_error = TIMEBASE_E_BUSY;
    sources_ask(&sources, SECOND);
    assert_true(sources_due_ns(&sources) == SECOND + 20 * MS);
    told_sources[0].claim_error = TIMEBASE_OK;
    sources_ask(&sources, SECOND + 20 * MS);
    assert_true(sources.list[0].has_claim);
    sources_close(&sources);
}

static void one_that_cannot_be_opened_is_tried_again(void **state)
{
    (void)state;
    set_up(1, 0);
    told_sources[0].open_error = TIMEBASE_E_PERMISSION;
    sources_ask(&sources, SECOND);
    assert_int_equal(sources.list[0].error, TIMEBASE_E_PERMISSION);
    assert_int_equal(told_sources[0].asked, 0);
    told_sources[0].open_error = TIMEBASE_OK;
    sources_ask(&sources, 2 * SECOND);
    assert_int_equal(told_sources[0].opened, 0);
    sources_ask(&sources, 3 * SECOND);
    assert_true(sources.list[0].is_up);
    sources_close(&sources);
}

/* The clock may be trusted as far as before; nobody says any more that it is. */
static void a_lost_source_is_a_bound_that_grows_and_no_more_synchronised(void **state)
{
    (void)state;
    set_up(1, SECOND);
    sources_ask(&sources, SECOND);
    told_sources[0].claim_error = TIMEBASE_E_REFERENCE;
    for (int64_t now = 2 * SECOND; now < 100 * SECOND; now += SECOND)
        sources_ask(&sources, now);
    assert_true(apply_at(11 * SECOND).is_synchronized);
    assert_false(apply_at(11 * SECOND + 1).is_synchronized);
    assert_in_range(apply_at(101 * SECOND).maxerror_ns, 6 * MS, 6 * MS + 2);
    sources_close(&sources);
}

/* As chronyd's, which has nothing new to say for 16 s. */
static void one_that_says_the_same_again_is_not_lost(void **state)
{
    (void)state;
    set_up(1, SECOND);
    for (int64_t now = SECOND; now <= 21 * SECOND; now += SECOND)
        sources_ask(&sources, now);
    assert_true(apply_at(21 * SECOND).is_synchronized);
    assert_in_range(apply_at(21 * SECOND).maxerror_ns, 2 * MS, 2 * MS + 2);
    sources_close(&sources);
}

static void a_liar_is_named_and_outvoted(void **state)
{
    (void)state;
    set_up(3, SECOND);
    told_sources[1].claim.offset_ns = 500 * MS;
    sources_ask(&sources, SECOND);
    struct discipline_sample sample = apply_at(SECOND);
    assert_in_range(sample.maxerror_ns, MS, MS + 2);
    assert_true(sample.is_synchronized);
    assert_false(sources.list[0].is_falseticker);
    assert_true(sources.list[1].is_falseticker);
    assert_false(sources.list[2].is_falseticker);
    sources_close(&sources);
}

static void two_that_contradict_each_other_are_both_provided_for(void **state)
{
    (void)state;
    set_up(2, SECOND);
    told_sources[1].claim.offset_ns = -500 * MS;
    sources_ask(&sources, SECOND);
    struct discipline_sample sample = apply_at(SECOND);
    assert_false(sample.is_synchronized);
    assert_true(sample.maxerror_ns >= 501 * MS);
    sources_close(&sources);
}

static void after_a_step_old_claims_are_void_and_all_are_asked_at_once(void **state)
{
    (void)state;
    set_up(1, SECOND);
    sources_ask(&sources, SECOND);
    sources_forget(&sources, SECOND + 10);
    assert_true(apply_at(SECOND + 10).maxerror_ns == KERNEL_ERROR);
    assert_true(sources_due_ns(&sources) == SECOND + 10);
    sources_ask(&sources, SECOND + 20); /* an answer of before the step */
    assert_false(sources.list[0].has_claim);
    /* It would repeat it: begun anew, and soon. */
    assert_int_equal(told_sources[0].closed, 1);
    assert_true(sources_due_ns(&sources) <= SECOND + 50 * MS);
    told_sources[0].claim.mono_ns = SECOND + 40 * MS;
    sources_ask(&sources, SECOND + 50 * MS);
    assert_true(sources.list[0].has_claim);
    assert_int_equal(told_sources[0].opened, 2);
    sources_close(&sources);
}

static void a_changed_marker_is_a_disruption_and_the_first_is_none(void **state)
{
    (void)state;
    set_up(1, SECOND);
    told_sources[0].claim.disruption_marker = 77;
    sources_ask(&sources, SECOND);
    sources_ask(&sources, 2 * SECOND);
    assert_true(sources.disruptions == 0);
    told_sources[0].claim.disruption_marker = 78;
    sources_ask(&sources, 3 * SECOND);
    assert_true(sources.disruptions == 1);
    told_sources[0].claim.disruption_marker = 0;
    sources_ask(&sources, 4 * SECOND);
    assert_true(sources.disruptions == 1);
    sources_close(&sources);
}

/* Its answers are of before; each driver that is begun anew dates them a little earlier. */
static void after_a_disruption_who_has_not_measured_is_not_believed(void **state)
{
    struct claim *claim = &told_sources[0].claim;
    (void)state;
    set_up(1, 5 * SECOND);
    claim->measured_ns = 4 * SECOND;
    sources_ask(&sources, 5 * SECOND);
    sources_disrupted(&sources, 4 * SECOND); /* as late as it can have been */
    claim->measured_ns = 4 * SECOND - 1;
    sources_ask(&sources, 5 * SECOND);
    assert_true(sources.list[0].has_claim);
    assert_false(sources.list[0].is_outdated);
    sources_disrupted(&sources, 4 * SECOND + 1);
    sources_ask(&sources, 6 * SECOND);
    assert_false(sources.list[0].has_claim);
    assert_true(sources.list[0].is_outdated);
    assert_false(apply_at(6 * SECOND).is_synchronized);
    claim->measured_ns = 4 * SECOND + 1;
    sources_ask(&sources, 7 * SECOND);
    assert_true(sources.list[0].has_claim);
    assert_false(sources.list[0].is_outdated);
    assert_true(apply_at(7 * SECOND).is_synchronized);
    sources_close(&sources);
}

static void who_tells_of_disruptions_is_asked_at_each_sample(void **state)
{
    (void)state;
    set_up(1, SECOND);
    told_sources[0].claim.error_ns = UINT64_MAX;
    told_sources[0].claim.disruption_marker = 1;
    for (int i = 0; i < 5; i++)
        sources_ask_for_sample(&sources, SECOND + i * MS);
    assert_int_equal(told_sources[0].asked, 5);
    sources_close(&sources);
}

static void a_huge_claim_does_not_wrap(void **state)
{
    (void)state;
    set_up(1, INT64_MIN);
    told_sources[0].claim.error_ns = UINT64_MAX - 5;
    told_sources[0].claim.offset_ns = INT64_MIN;
    told_sources[0].claim.dispersion_ppb = UINT32_MAX;
    sources_ask(&sources, SECOND);
    struct discipline_sample sample = apply_at(INT64_MAX);
    assert_true(sample.maxerror_ns > 0);
    assert_true(sources_error_ns(&sources, &told_sources[0].claim, INT64_MAX) >= (uint64_t)1 << 60);
    sources_close(&sources);
}

static void the_fastest_growth_of_those_that_agree_is_the_samples(void **state)
{
    (void)state;
    set_up(3, SECOND);
    told_sources[0].claim.dispersion_ppb = 100;
    told_sources[1].claim.dispersion_ppb = 700;
    told_sources[2].claim.dispersion_ppb = 90000;
    told_sources[2].claim.offset_ns = 500 * MS;
    sources_ask(&sources, SECOND);
    assert_int_equal(apply_at(SECOND).maxerror_ppb, 700);
    sources_close(&sources);
}

/* What chronyd is correcting may be gone by now, or not. */
static void a_correction_under_way_is_covered_to_its_end(void **state)
{
    (void)state;
    set_up(1, SECOND);
    told_sources[0].claim.offset_ns = 8 * MS;
    told_sources[0].claim.is_correcting = true;
    sources_ask(&sources, SECOND);
    apply_at(2 * SECOND);
    assert_true(sources.selection.low_ns <= -MS);
    assert_true(sources.selection.high_ns >= 9 * MS);
    assert_true(sources_error_ns(&sources, &told_sources[0].claim, 2 * SECOND) >= 9 * MS);
    sources_close(&sources);
}

/* A PTP clock is asked at each sample, chronyd when it has something new to say. */
static void what_others_slew_is_asked_at_each_sample(void **state)
{
    (void)state;
    set_up(2, SECOND);
    told_sources[1].claim.is_slewed_by_others = true;
    sources_ask_for_sample(&sources, SECOND);
    for (int i = 1; i < 5; i++)
        sources_ask_for_sample(&sources, SECOND + i * MS);
    assert_int_equal(told_sources[0].asked, 1);
    assert_int_equal(told_sources[1].asked, 5);
    assert_true(sources_due_ns(&sources) > SECOND + 4 * MS); /* and nobody is woken for it */
    sources_close(&sources);
}

static void an_estimate_has_no_vote_beside_a_bound(void **state)
{
    (void)state;
    set_up(2, SECOND);
    told_sources[1].claim.error_ns = 1000;
    sources.list[1].driver = &told_estimate;
    sources_ask(&sources, SECOND);
    assert_in_range(apply_at(SECOND).maxerror_ns, MS, MS + 2);
    assert_int_equal(sources.selection.count, 1);
    sources.list[0].has_claim = false;
    assert_in_range(apply_at(SECOND).maxerror_ns, 1000, 1002);
    assert_true(apply_at(SECOND).is_synchronized);
    sources_close(&sources);
}

static void one_that_knows_nothing_any_more_follows_utc_no_more(void **state)
{
    (void)state;
    set_up(1, SECOND);
    sources_ask(&sources, SECOND);
    assert_true(apply_at(SECOND).is_synchronized);
    told_sources[0].claim.error_ns = UINT64_MAX;
    sources_ask(&sources, 2 * SECOND);
    assert_false(apply_at(2 * SECOND).is_synchronized);
    assert_in_range(apply_at(2 * SECOND).maxerror_ns, MS + 50000, MS + 50002);
    sources_close(&sources);
}

static void a_failure_has_its_reason(void **state)
{
    (void)state;
    set_up(1, SECOND);
    told_sources[0].open_error = TIMEBASE_E_PERMISSION;
    sources_ask(&sources, SECOND);
    assert_string_equal(sources.list[0].reason, "told not to open");
    told_sources[0].open_error = TIMEBASE_OK;
    told_sources[0].claim_error = TIMEBASE_E_REFERENCE;
    sources_ask(&sources, 3 * SECOND);
    assert_string_equal(sources.list[0].reason, "told not to answer");
    sources_close(&sources);
}

static void tai_and_leaps_come_from_those_that_agree(void **state)
{
    const uint32_t tai = TIMEBASE_LINE_TAI_VALID | 37u << TIMEBASE_LINE_TAI_SHIFT;
    (void)state;
    set_up(1, SECOND);
    told_sources[0].claim.flags = tai | TIMEBASE_LINE_LEAP_INSERT;
    sources_ask(&sources, SECOND);
    assert_int_equal(apply_at(SECOND).flags, tai | TIMEBASE_LINE_LEAP_INSERT);
    sources_close(&sources);
}

static void a_source_that_tells_tai_does_not_hide_the_kernels_verdict(void **state)
{
    struct discipline_sample sample = {.mono_ns = SECOND,
                                       .maxerror_ns = KERNEL_ERROR,
                                       .flags = TIMEBASE_LINE_COUNTER_DISTRUSTED};
    (void)state;
    set_up(1, SECOND);
    told_sources[0].claim.flags = TIMEBASE_LINE_TAI_VALID | 37u << TIMEBASE_LINE_TAI_SHIFT;
    sources_ask(&sources, SECOND);
    sources_apply(&sources, &sample);
    assert_true(sample.flags & TIMEBASE_LINE_TAI_VALID);
    assert_true(sample.flags & TIMEBASE_LINE_COUNTER_DISTRUSTED);
    sources_close(&sources);
}

/* The flag goes by who is believed, and not by who is asked. */
static void what_rests_on_estimates_is_flagged(void **state)
{
    (void)state;
    set_up(2, SECOND);
    sources.list[0].driver = &told_estimate;
    sources_ask(&sources, SECOND);
    assert_int_equal(apply_at(SECOND).flags & TIMEBASE_LINE_ESTIMATE, 0);
    told_sources[1].claim.is_synchronized = false;
    sources_ask(&sources, 2 * SECOND);
    assert_true(apply_at(2 * SECOND).is_synchronized);
    assert_true(apply_at(2 * SECOND).flags & TIMEBASE_LINE_ESTIMATE);
    sources.list[0].driver = &told_driver;
    assert_int_equal(apply_at(2 * SECOND).flags & TIMEBASE_LINE_ESTIMATE, 0);
    told_sources[0].claim.is_synchronized = false;
    sources_ask(&sources, 3 * SECOND);
    assert_true(apply_at(3 * SECOND).flags & TIMEBASE_LINE_ESTIMATE);
    sources_close(&sources);
}

static void a_source_with_news_is_asked_at_once(void **state)
{
    int fds[2] = {0};
    (void)state;
    set_up(3, SECOND);
    sources_ask(&sources, SECOND);
    assert_int_equal(sources_fds(&sources, fds, 2), 0);
    told_sources[1].fd = 17;
    told_sources[2].fd = 18;
    assert_int_equal(sources_fds(&sources, fds, 1), 2);
    assert_int_equal(fds[0], 17);
    told_sources[2].claim.notice = CLAIM_NOTICE_SOON;
    assert_int_equal(sources_notice(&sources), CLAIM_NOTICE_NONE);
    sources_hear(&sources, 18, SECOND + 1);
    assert_int_equal(told_sources[1].asked, 1);
    assert_int_equal(told_sources[2].asked, 2);
    assert_int_equal(sources_notice(&sources), CLAIM_NOTICE_SOON);
    sources_close(&sources);
    assert_int_equal(sources_fds(&sources, fds, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_sources_the_kernel_has_its_word),
        cmocka_unit_test(a_source_that_never_answered_leaves_the_kernels_word_as_an_estimate),
        cmocka_unit_test(a_source_that_knows_nothing_leaves_the_kernels_word_as_an_estimate),
        cmocka_unit_test(an_argument_that_is_refused_is_named_by_its_place),
        cmocka_unit_test(a_claim_replaces_the_kernels_word_and_grows_with_age),
        cmocka_unit_test(each_is_asked_once_a_second),
        cmocka_unit_test(one_that_is_busy_is_asked_again_soon),
        cmocka_unit_test(one_that_cannot_be_opened_is_tried_again),
        cmocka_unit_test(a_lost_source_is_a_bound_that_grows_and_no_more_synchronised),
        cmocka_unit_test(one_that_says_the_same_again_is_not_lost),
        cmocka_unit_test(a_liar_is_named_and_outvoted),
        cmocka_unit_test(two_that_contradict_each_other_are_both_provided_for),
        cmocka_unit_test(after_a_step_old_claims_are_void_and_all_are_asked_at_once),
        cmocka_unit_test(a_changed_marker_is_a_disruption_and_the_first_is_none),
        cmocka_unit_test(after_a_disruption_who_has_not_measured_is_not_believed),
        cmocka_unit_test(who_tells_of_disruptions_is_asked_at_each_sample),
        cmocka_unit_test(a_huge_claim_does_not_wrap),
        cmocka_unit_test(the_fastest_growth_of_those_that_agree_is_the_samples),
        cmocka_unit_test(a_correction_under_way_is_covered_to_its_end),
        cmocka_unit_test(what_others_slew_is_asked_at_each_sample),
        cmocka_unit_test(an_estimate_has_no_vote_beside_a_bound),
        cmocka_unit_test(one_that_knows_nothing_any_more_follows_utc_no_more),
        cmocka_unit_test(a_failure_has_its_reason),
        cmocka_unit_test(tai_and_leaps_come_from_those_that_agree),
        cmocka_unit_test(a_source_that_tells_tai_does_not_hide_the_kernels_verdict),
        cmocka_unit_test(what_rests_on_estimates_is_flagged),
        cmocka_unit_test(a_source_with_news_is_asked_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
