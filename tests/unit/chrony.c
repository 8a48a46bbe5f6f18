/* SPDX-License-Identifier: MIT */
/* What chronyc says: as numbers, as a claim; and everything that it must not say. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <timebase/error.h>
#include <timebase/page.h>

#include "dice.h"
#include "daemon/sources/chrony.h"

#define MUTATIONS 200000

/* Said by chronyc 4.3 of a chronyd that followed another one through a slow network. */
static const char said[] =
    "7F000001,127.0.0.1,2,1795274325.580817246,-0.009235670,0.000090834,0.000922741,-98.794,2.329,"
    "553.669,0.025427816,0.001162255,1.0,Normal\n";

static struct chrony_tracking parsed(const char *text)
{
    struct chrony_tracking tracking;
    assert_int_equal(chrony_parse(text, strlen(text), &tracking), TIMEBASE_OK);
    return tracking;
}

static bool is_refused(const char *text, size_t length)
{
    struct chrony_tracking tracking;
    return chrony_parse(text, length, &tracking) == TIMEBASE_E_FORMAT;
}

static void every_field_is_read(void **state)
{
    struct chrony_tracking tracking = parsed(said);
    (void)state;
    assert_int_equal(tracking.reference_id, 0x7f000001);
    assert_int_equal(tracking.stratum, 2);
    assert_true(tracking.reference_time_ns == 1795274325580817246);
    assert_true(tracking.correction_ns == -9235670);
    assert_true(tracking.last_offset_ns == 90834);
    assert_true(tracking.rms_offset_ns == 922741);
    assert_true(tracking.frequency_ppb == -98794);
    assert_true(tracking.residual_ppb == 2329);
    assert_true(tracking.skew_ppb == 553669);
    assert_true(tracking.root_delay_ns == 25427816);
    assert_true(tracking.root_dispersion_ns == 1162255);
    assert_true(tracking.update_interval_ns == 1000000000);
    assert_int_equal(tracking.leap, CHRONY_LEAP_NORMAL);
}

/* The line with field number `index` replaced. */
static const char *with(unsigned index, const char *text)
{
    static char line[1024];
    const char *from = said;
    char *to = line;
    for (unsigned i = 0; i < 14; i++) {
        size_t length = strcspn(from, ",\n");
        const char *field = i == index ? text : from;
        size_t field_length = i == index ? strlen(text) : length;
        memcpy(to, field, field_length);
        to += field_length;
        *to++ = from[length];
        from += length + 1;
    }
    *to = '\0';
    return line;
}

static void assert_field_refused(unsigned index, const char *text)
{
    const char *line = with(index, text);
    if (!is_refused(line, strlen(line)))
        fail_msg("accepted: %s", line);
}

static void numbers_that_are_none_are_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        " ",
                                        "nan",
                                        "-nan",
                                        "inf",
                                        "-inf",
                                        "1e3",
                                        "0x10",
                                        "1,5",
                                        "1 ",
                                        " 1",
                                        "--1",
                                        "+-1",
                                        ".5",
                                        "5.",
                                        "1.2.3",
                                        "1_000",
                                        "1.0000000000",
                                        "\xd9\xa1",
                                        "99999999999999999999",
                                        "-9223372036.854775808",
                                        "9223372036.854775808"};
    (void)state;
    for (unsigned field = 3; field <= 12; field++)
        for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
            if (field < 7 || field > 9 || i < 17) /* ppm have more room */
                assert_field_refused(field, wrong[i]);
}

static void what_cannot_be_negative_is_refused_if_it_is(void **state)
{
    const unsigned never[] = {3, 6, 9, 10, 11, 12};
    (void)state;
    for (unsigned i = 0; i < 6; i++)
        assert_field_refused(never[i], "-0.001");
    assert_true(parsed(with(4, "-0.5")).correction_ns == -500000000);
    assert_true(parsed(with(4, "+0.5")).correction_ns == 500000000);
    assert_true(parsed(with(7, "-0.5")).frequency_ppb == -500);
}

static void other_fields_are_looked_at_too(void **state)
{
    (void)state;
    assert_field_refused(0, "7F00001");
    assert_field_refused(0, "7F0000011");
    assert_field_refused(0, "7F00000G");
    assert_field_refused(0, "7f000001");
    assert_field_refused(2, "-1");
    assert_field_refused(2, "17");
    assert_field_refused(2, "2.0");
    assert_field_refused(2, "");
    assert_field_refused(13, "normal");
    assert_field_refused(13, "Normal ");
    assert_field_refused(13, "");
    assert_int_equal(parsed(with(13, "Insert second")).leap, CHRONY_LEAP_INSERT);
    assert_int_equal(parsed(with(13, "Delete second")).leap, CHRONY_LEAP_DELETE);
    assert_int_equal(parsed(with(13, "Not synchronised")).leap, CHRONY_LEAP_UNSYNCHRONISED);
    assert_int_equal(parsed(with(1, "")).stratum, 2);
}

static void a_line_cut_short_at_any_character_is_refused(void **state)
{
    struct chrony_tracking tracking;
    (void)state;
    for (size_t length = 0; length < strlen(said); length++) {
        char *copy = malloc(length + 1); /* of this length, for sanitizers */
        memcpy(copy, said, length);
        assert_int_equal(chrony_parse(copy, length, &tracking), TIMEBASE_E_FORMAT);
        free(copy);
    }
}

static void what_comes_after_the_line_is_refused(void **state)
{
    char twice[2 * sizeof(said)];
    (void)state;
    strcpy(twice, said);
    strcat(twice, said);
    assert_true(is_refused(twice, strlen(twice)));
    assert_true(is_refused("506 Cannot talk to daemon\n", 26));
    assert_true(is_refused("\n", 1));
    assert_true(is_refused(with(13, "Normal,"), strlen(with(13, "Normal,"))));
    assert_true(is_refused(said, sizeof(said))); /* with the zero at its end */
}

/* Nothing but the digits of numbers, and the name, may change without notice. */
static void random_changes_never_crash_and_keep_the_ranges(void **state)
{
    struct dice dice = dice_new();
    char line[sizeof(said)];
    (void)state;
    for (int i = 0; i < MUTATIONS; i++) {
        struct chrony_tracking tracking;
        memcpy(line, said, sizeof(said));
        for (uint64_t n = 1 + dice_below(&dice, 4); n > 0; n--)
            line[dice_below(&dice, sizeof(said) - 1)] = (char)dice_roll(&dice);
        if (chrony_parse(line, sizeof(said) - 1, &tracking) != TIMEBASE_OK)
            continue;
        assert_true(tracking.stratum <= 16);
        assert_true(tracking.root_delay_ns >= 0 && tracking.root_dispersion_ns >= 0);
        assert_true(tracking.rms_offset_ns >= 0 && tracking.skew_ppb >= 0);
        struct reference_claim claim = chrony_claim(&tracking, 0);
        assert_true(claim.error_ns >= (uint64_t)tracking.root_dispersion_ns);
    }
}

/* ---- the bound ----------------------------------------------------------------------------- */

static struct chrony_tracking quiet(void)
{
    struct chrony_tracking tracking = {.reference_id = 1, .stratum = 2};
    return tracking;
}

static uint64_t error_of(const struct chrony_tracking *tracking)
{
    return chrony_claim(tracking, 0).error_ns;
}

static void a_clock_that_is_fast_is_ahead_of_utc(void **state)
{
    /* "-0.009235670": chronyc without -c says "0.009235670 seconds fast of NTP time". */
    struct reference_claim claim = chrony_claim(
        &(struct chrony_tracking){.reference_id = 1, .stratum = 2, .correction_ns = -9235670}, 77);
    (void)state;
    assert_true(claim.offset_ns == 9235670);
    assert_true(claim.mono_ns == 77);
    assert_true(claim.is_synchronized);
    assert_true(claim.is_correcting);
}

static void half_the_root_delay_counts_rounded_up(void **state)
{
    struct chrony_tracking tracking = quiet();
    uint64_t none = error_of(&tracking);
    (void)state;
    tracking.root_delay_ns = 2001;
    assert_int_equal(error_of(&tracking), none + 1001);
}

static void the_dispersion_counts_whole(void **state)
{
    struct chrony_tracking tracking = quiet();
    uint64_t none = error_of(&tracking);
    (void)state;
    tracking.root_dispersion_ns = 5000;
    assert_int_equal(error_of(&tracking), none + 5000);
}

static void the_last_offset_counts_whatever_its_sign(void **state)
{
    struct chrony_tracking tracking = quiet();
    uint64_t none = error_of(&tracking);
    (void)state;
    tracking.last_offset_ns = -300;
    assert_int_equal(error_of(&tracking), none + 300);
    tracking.last_offset_ns = 300;
    assert_int_equal(error_of(&tracking), none + 300);
}

static void the_sigma_in_the_dispersion_becomes_five(void **state)
{
    struct chrony_tracking tracking = quiet();
    uint64_t none = error_of(&tracking);
    (void)state;
    tracking.root_dispersion_ns = 10000;
    tracking.rms_offset_ns = 700;
    assert_int_equal(error_of(&tracking), none + 10000 + 4 * 700);
    /* the larger of average and last */
    tracking.last_offset_ns = 900;
    assert_int_equal(error_of(&tracking), none + 10000 + 4 * 900 + 900);
    /* but the dispersion contains it, and so is no less */
    tracking.root_dispersion_ns = 800;
    assert_int_equal(error_of(&tracking), none + 800 + 4 * 800 + 900);
}

static void digits_that_the_client_rounds_off_count(void **state)
{
    struct chrony_tracking tracking = quiet();
    (void)state;
    assert_true(error_of(&tracking) >= 4);
    tracking.correction_ns = 1000000000;
    /* 24 bits of a second: 60 ns; half of that is lost */
    assert_true(error_of(&tracking) >= 4 + 30);
    tracking.correction_ns = 0;
    tracking.root_delay_ns = 2000000000;
    assert_true(error_of(&tracking) >= 1000000000 + 30);
}

static void it_grows_by_skew_and_residual_frequency(void **state)
{
    struct chrony_tracking tracking = quiet();
    uint32_t none = chrony_claim(&tracking, 0).growth_ppb;
    (void)state;
    tracking.skew_ppb = 40;
    tracking.residual_ppb = -7;
    assert_int_equal(chrony_claim(&tracking, 0).growth_ppb, none + 47);
    tracking.skew_ppb = INT64_MAX;
    assert_int_equal(chrony_claim(&tracking, 0).growth_ppb, UINT32_MAX);
}

static void nothing_wraps(void **state)
{
    struct chrony_tracking tracking = quiet();
    (void)state;
    tracking.correction_ns = INT64_MIN + 1;
    tracking.last_offset_ns = INT64_MIN + 1;
    tracking.rms_offset_ns = INT64_MAX;
    tracking.root_delay_ns = INT64_MAX;
    tracking.root_dispersion_ns = INT64_MAX;
    assert_true(error_of(&tracking) == UINT64_MAX);
}

static void leap_seconds_are_passed_on(void **state)
{
    struct chrony_tracking tracking = quiet();
    (void)state;
    assert_int_equal(chrony_claim(&tracking, 0).flags, 0);
    tracking.leap = CHRONY_LEAP_INSERT;
    assert_int_equal(chrony_claim(&tracking, 0).flags, TIMEBASE_LINE_LEAP_INSERT);
    tracking.leap = CHRONY_LEAP_DELETE;
    assert_int_equal(chrony_claim(&tracking, 0).flags, TIMEBASE_LINE_LEAP_DELETE);
}

static void assert_knows_nothing(const struct chrony_tracking *tracking)
{
    struct reference_claim claim = chrony_claim(tracking, 0);
    assert_false(claim.is_synchronized);
    assert_true(claim.error_ns == UINT64_MAX);
}

/* Its numbers are small then, and mean nothing. */
static void an_unsynchronised_chronyd_claims_nothing(void **state)
{
    struct chrony_tracking tracking = quiet();
    (void)state;
    tracking.leap = CHRONY_LEAP_UNSYNCHRONISED;
    assert_knows_nothing(&tracking);
    tracking = quiet();
    tracking.stratum = 0;
    assert_knows_nothing(&tracking);
    tracking.stratum = 16;
    assert_knows_nothing(&tracking);
    tracking = quiet();
    tracking.reference_id = 0;
    assert_knows_nothing(&tracking);
    tracking.reference_id = 0x7f7f0101; /* `local`: it serves its own clock */
    assert_knows_nothing(&tracking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(numbers_that_are_none_are_refused),
        cmocka_unit_test(what_cannot_be_negative_is_refused_if_it_is),
        cmocka_unit_test(other_fields_are_looked_at_too),
        cmocka_unit_test(a_line_cut_short_at_any_character_is_refused),
        cmocka_unit_test(what_comes_after_the_line_is_refused),
        cmocka_unit_test(random_changes_never_crash_and_keep_the_ranges),
        cmocka_unit_test(a_clock_that_is_fast_is_ahead_of_utc),
        cmocka_unit_test(half_the_root_delay_counts_rounded_up),
        cmocka_unit_test(the_dispersion_counts_whole),
        cmocka_unit_test(the_last_offset_counts_whatever_its_sign),
        cmocka_unit_test(the_sigma_in_the_dispersion_becomes_five),
        cmocka_unit_test(digits_that_the_client_rounds_off_count),
        cmocka_unit_test(it_grows_by_skew_and_residual_frequency),
        cmocka_unit_test(nothing_wraps),
        cmocka_unit_test(leap_seconds_are_passed_on),
        cmocka_unit_test(an_unsynchronised_chronyd_claims_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
