/* SPDX-License-Identifier: MIT */
/* What chronyd says: as numbers, as a claim; and everything that it must not say. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <timebase/error.h>
#include <timebase/page.h>

#include "dice.h"
#include "daemon/sources/chrony.h"

#define MUTATIONS 200000

#define SEQUENCE 0x12345678u

/* Of chronyd 4.3, when chronyc said what the test below expects. */
static const unsigned char said[CHRONY_MESSAGE_SIZE] = {
    0x06, 0x02, 0x00, 0x00, 0x00, 0x21, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7f, 0x00,
    0x00, 0x01, 0x7f, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x6b, 0x02, 0x8b, 0xe0, 0x34, 0x59, 0x9f, 0xe9, 0xf7, 0x65, 0x0f, 0x60, 0xec, 0xa2, 0xa6,
    0x35, 0xee, 0xfe, 0xd7, 0x28, 0x00, 0x00, 0x00, 0x00, 0x13, 0x67, 0x45, 0x8e, 0x2a, 0xf4,
    0x24, 0x00, 0xf8, 0xb9, 0x3a, 0xea, 0x04, 0xc4, 0xd4, 0xb4, 0x04, 0x84, 0xc4, 0x28,
};

static void put(unsigned char *bytes, size_t at, unsigned width, uint32_t value)
{
    for (unsigned i = width; i-- > 0; value >>= 8)
        bytes[at + i] = (unsigned char)value;
}

/* value * 2^-25 * 2^exponent, as chronyd writes it. */
static uint32_t number_of(int32_t coefficient, int exponent)
{
    return (uint32_t)exponent << 25 | ((uint32_t)coefficient & 0x1ffffff);
}

static const unsigned char *answer(void)
{
    static unsigned char bytes[CHRONY_MESSAGE_SIZE];
    memset(bytes, 0, sizeof(bytes));
    bytes[0] = 6;
    bytes[1] = 2;
    put(bytes, 4, 2, 33);
    put(bytes, 6, 2, 5);
    put(bytes, 16, 4, SEQUENCE);
    put(bytes, 28, 4, 0x7f000001);
    put(bytes, 52, 2, 2);
    put(bytes, 56, 4, 0x7fffffff);
    put(bytes, 60, 4, 1795274325);
    put(bytes, 64, 4, 580817246);
    return bytes;
}

/* The answer with `width` bytes replaced. */
static const unsigned char *with(size_t at, unsigned width, uint32_t value)
{
    static unsigned char bytes[CHRONY_MESSAGE_SIZE];
    memcpy(bytes, answer(), sizeof(bytes));
    put(bytes, at, width, value);
    return bytes;
}

static int parse(const unsigned char *bytes, struct chrony_tracking *tracking)
{
    return chrony_parse(bytes, CHRONY_MESSAGE_SIZE, SEQUENCE, tracking);
}

static struct chrony_tracking parsed(const unsigned char *bytes)
{
    struct chrony_tracking tracking;
    assert_int_equal(parse(bytes, &tracking), TIMEBASE_OK);
    return tracking;
}

static void assert_says(size_t at, unsigned width, uint32_t value, int error)
{
    struct chrony_tracking tracking = {.stratum = 99};
    int said = parse(with(at, width, value), &tracking);
    if (said != error)
        fail_msg("%u bytes at %zu set to %x: %d, not %d", width, at, value, said, error);
    assert_int_equal(tracking.stratum, 99); /* what is refused is not told in part */
}

static void the_question_is_as_long_as_its_answer(void **state)
{
    unsigned char bytes[CHRONY_MESSAGE_SIZE], head[20] = {6, 1, 0, 0, 0, 33, 0, 0, 1, 2, 3, 4};
    (void)state;
    memset(bytes, 0xff, sizeof(bytes));
    chrony_request(0x01020304, bytes);
    assert_memory_equal(bytes, head, sizeof(head));
    for (size_t i = sizeof(head); i < sizeof(bytes); i++)
        assert_int_equal(bytes[i], 0);
}

static void every_field_is_read(void **state)
{
    unsigned char bytes[CHRONY_MESSAGE_SIZE];
    (void)state;
    memcpy(bytes, answer(), sizeof(bytes));
    for (unsigned i = 0; i < 9; i++) /* 1, 2, ... 9 quarters */
        put(bytes, 68 + 4 * i, 4, number_of((int32_t)(i + 1) << 20, 3));
    struct chrony_tracking tracking = parsed(bytes);
    assert_int_equal(tracking.reference_id, 0x7f000001);
    assert_int_equal(tracking.stratum, 2);
    assert_true(tracking.reference_time_ns == 1795274325580817246);
    assert_true(tracking.correction_ns == 250000000);
    assert_true(tracking.last_offset_ns == 500000000);
    assert_true(tracking.rms_offset_ns == 750000000);
    assert_true(tracking.frequency_ppb == 1000);
    assert_true(tracking.residual_ppb == 1250);
    assert_true(tracking.skew_ppb == 1500);
    assert_true(tracking.root_delay_ns == 1750000000);
    assert_true(tracking.root_dispersion_ns == 2000000000);
    assert_true(tracking.update_interval_ns == 2250000000);
    assert_int_equal(tracking.leap, CHRONY_LEAP_NORMAL);
}

static void what_chronyd_says_is_what_chronyc_says_of_it(void **state)
{
    struct chrony_tracking tracking;
    (void)state;
    assert_int_equal(chrony_parse(said, sizeof(said), 7, &tracking), TIMEBASE_OK);
    assert_int_equal(tracking.reference_id, 0x7f000001);
    assert_true(tracking.correction_ns / 1000 == -9456); /* 0.009456784 seconds fast */
    assert_true(llabs(tracking.last_offset_ns - 310229) <= 1);
    assert_true(llabs(tracking.rms_offset_ns - 972139) <= 1);
    assert_true(llabs(tracking.residual_ppb - (-152728)) <= 1);
    assert_true(llabs(tracking.skew_ppb - 1000000000) <= 1);
    assert_true(llabs(tracking.root_delay_ns - 22611100) <= 1);
    /* It grows by the skew, a second in each second, and chronyc asked later. */
    assert_true(tracking.root_dispersion_ns > 1400000000);
    assert_true(tracking.root_dispersion_ns <= 1540038348);
    assert_true(tracking.update_interval_ns / 100000000 == 10);
    assert_int_equal(tracking.leap, CHRONY_LEAP_NORMAL);
}

/* Against arithmetic in floating point, which the parser does without. */
static void numbers_are_what_chronyd_means_by_them(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < MUTATIONS; i++) {
        uint32_t word = (uint32_t)dice_roll(&dice);
        double coefficient = (double)((int32_t)(word << 7) / 128);
        double value = ldexp(coefficient, ((int32_t)word >> 25) - 25) * 1e9;
        struct chrony_tracking tracking;
        int error = parse(with(68, 4, word), &tracking);
        if (value >= 9.2e18 || value <= -9.2e18)
            continue; /* at the edge either is right */
        assert_int_equal(error, TIMEBASE_OK);
        assert_true(fabs((double)tracking.correction_ns - value) <= 1 + fabs(value) * 1e-15);
    }
    assert_says(68, 4, number_of(0xffffff, 63), TIMEBASE_E_FORMAT);
    assert_says(68, 4, number_of(-0x1000000, 63), TIMEBASE_E_FORMAT);
}

static void what_cannot_be_negative_is_refused_if_it_is(void **state)
{
    const unsigned never[] = {2, 5, 6, 7, 8};
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        assert_says(68 + 4 * never[i], 4, number_of(-1000000, 0), TIMEBASE_E_FORMAT);
    assert_true(parsed(with(68, 4, number_of(-(1 << 24), 0))).correction_ns == -500000000);
    assert_true(parsed(with(80, 4, number_of(-(1 << 24), 0))).frequency_ppb == -500);
}

static void an_answer_to_another_question_is_passed_over(void **state)
{
    (void)state;
    assert_says(16, 4, SEQUENCE - 1, TIMEBASE_E_BUSY);
    assert_says(16, 4, SEQUENCE ^ 0x80000000, TIMEBASE_E_BUSY);
}

static void the_head_is_looked_at(void **state)
{
    (void)state;
    assert_says(0, 1, 5, TIMEBASE_E_UNSUPPORTED);
    assert_says(1, 1, 1, TIMEBASE_E_FORMAT); /* a question */
    assert_says(2, 1, 1, TIMEBASE_E_FORMAT);
    assert_says(3, 1, 1, TIMEBASE_E_FORMAT);
    assert_says(4, 2, 34, TIMEBASE_E_FORMAT);
    assert_says(6, 2, 6, TIMEBASE_E_FORMAT);
    assert_says(8, 2, 2, TIMEBASE_E_PERMISSION);
    assert_says(8, 2, 10, TIMEBASE_E_PERMISSION);
    assert_says(8, 2, 18, TIMEBASE_E_UNSUPPORTED);
    assert_says(8, 2, 1, TIMEBASE_E_REFERENCE);
}

static void fields_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_says(52, 2, 17, TIMEBASE_E_FORMAT);
    assert_says(54, 2, 4, TIMEBASE_E_FORMAT);
    assert_says(56, 4, 2, TIMEBASE_E_FORMAT); /* the year 2242 */
    assert_says(64, 4, 1000000000, TIMEBASE_E_FORMAT);
    for (uint32_t leap = 0; leap < 4; leap++)
        assert_int_equal(parsed(with(54, 2, leap)).leap, leap);
}

static void an_answer_of_any_other_length_is_refused(void **state)
{
    struct chrony_tracking tracking;
    (void)state;
    for (size_t length = 0; length < CHRONY_MESSAGE_SIZE; length++) {
        unsigned char *copy = malloc(length + 1); /* of this length, for sanitizers */
        memcpy(copy, answer(), length);
        assert_int_equal(chrony_parse(copy, length, SEQUENCE, &tracking), TIMEBASE_E_FORMAT);
        free(copy);
    }
    unsigned char longer[CHRONY_MESSAGE_SIZE + 1] = {0};
    memcpy(longer, answer(), CHRONY_MESSAGE_SIZE);
    assert_int_equal(chrony_parse(longer, sizeof(longer), SEQUENCE, &tracking), TIMEBASE_E_FORMAT);
}

static void random_changes_never_crash_and_keep_the_ranges(void **state)
{
    struct dice dice = dice_new();
    unsigned char bytes[CHRONY_MESSAGE_SIZE];
    (void)state;
    for (int i = 0; i < MUTATIONS; i++) {
        struct chrony_tracking tracking;
        memcpy(bytes, answer(), sizeof(bytes));
        for (uint64_t n = 1 + dice_below(&dice, 4); n > 0; n--)
            bytes[20 + dice_below(&dice, sizeof(bytes) - 20)] = (unsigned char)dice_roll(&dice);
        if (parse(bytes, &tracking) != TIMEBASE_OK)
            continue;
        assert_true(tracking.stratum <= 16);
        assert_true(tracking.root_delay_ns >= 0 && tracking.root_dispersion_ns >= 0);
        assert_true(tracking.rms_offset_ns >= 0 && tracking.skew_ppb >= 0);
        struct claim claim = chrony_claim(&tracking, NULL, 0, 0);
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
    return chrony_claim(tracking, NULL, 0, 0).error_ns;
}

static void a_clock_that_is_fast_is_ahead_of_utc(void **state)
{
    /* -0.009235670: chronyc says "0.009235670 seconds fast of NTP time". */
    struct claim claim = chrony_claim(
        &(struct chrony_tracking){.reference_id = 1, .stratum = 2, .correction_ns = -9235670}, NULL,
        77, 99);
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

static void digits_that_chronyd_rounds_off_count(void **state)
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
    uint32_t none = chrony_claim(&tracking, NULL, 0, 0).dispersion_ppb;
    (void)state;
    tracking.skew_ppb = 40;
    tracking.residual_ppb = -7;
    assert_int_equal(chrony_claim(&tracking, NULL, 0, 0).dispersion_ppb, none + 47);
    tracking.skew_ppb = INT64_MAX;
    assert_int_equal(chrony_claim(&tracking, NULL, 0, 0).dispersion_ppb, UINT32_MAX);
}

/* Of the change since the answer before: what was slewed meanwhile, and what was corrected at once.
 */
static void a_change_of_the_offset_is_no_surer_than_the_answers_are(void **state)
{
    struct chrony_tracking before = quiet(), tracking = quiet();
    (void)state;
    tracking.correction_ns = -1000000;
    assert_true(chrony_claim(&tracking, &before, 0, 0).read_error_ns < 10);
    assert_true(chrony_claim(&tracking, &before, 0, 800000).read_error_ns >= 100000);
    assert_true(chrony_claim(&tracking, &before, 0, 80000000).read_error_ns < 1000010);
    tracking.last_offset_ns = -70000;
    assert_true(chrony_claim(&tracking, &before, 0, 0).read_error_ns < 10);
    tracking.reference_time_ns++; /* updated since */
    assert_true(chrony_claim(&tracking, &before, 0, 0).read_error_ns >= 70000);
}

/* Of the last measurement, by this machine's clock; what was slewed since makes it no later. */
static void the_last_measurement_is_dated_and_not_too_late(void **state)
{
    const int64_t utc_offset_ns = 1795000000000000000, second_ns = 1000000000;
    struct chrony_tracking tracking = quiet();
    (void)state;
    tracking.correction_ns = -3 * second_ns; /* the system clock is fast */
    tracking.reference_time_ns = utc_offset_ns + 997 * second_ns;
    int64_t measured_ns = chrony_measured_ns(&tracking, 1000 * second_ns, utc_offset_ns);
    assert_true(measured_ns <= 1000 * second_ns - (3 * second_ns >> 24)); /* told with 24 bits */
    assert_true(measured_ns >= 1000 * second_ns - 1000);
    measured_ns = chrony_measured_ns(&tracking, 1080 * second_ns, utc_offset_ns);
    assert_true(measured_ns <= 992 * second_ns); /* adjtimex slews 80 s by 8 */
    assert_true(measured_ns >= 989 * second_ns);
    /* A system clock that others have set back. */
    assert_true(chrony_measured_ns(&tracking, 900 * second_ns, utc_offset_ns) <= 800 * second_ns);
    /* Never. */
    tracking.reference_time_ns = 0;
    assert_true(chrony_measured_ns(&tracking, 1000 * second_ns, utc_offset_ns) < 0);
    tracking.correction_ns = INT64_MAX;
    assert_true(chrony_measured_ns(&tracking, 1000 * second_ns, utc_offset_ns) == INT64_MIN);
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
    assert_int_equal(chrony_claim(&tracking, NULL, 0, 0).flags, 0);
    tracking.leap = CHRONY_LEAP_INSERT;
    assert_int_equal(chrony_claim(&tracking, NULL, 0, 0).flags, TIMEBASE_LINE_LEAP_INSERT);
    tracking.leap = CHRONY_LEAP_DELETE;
    assert_int_equal(chrony_claim(&tracking, NULL, 0, 0).flags, TIMEBASE_LINE_LEAP_DELETE);
}

static void assert_knows_nothing(const struct chrony_tracking *tracking)
{
    struct claim claim = chrony_claim(tracking, NULL, 0, 0);
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
        cmocka_unit_test(the_question_is_as_long_as_its_answer),
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(what_chronyd_says_is_what_chronyc_says_of_it),
        cmocka_unit_test(numbers_are_what_chronyd_means_by_them),
        cmocka_unit_test(what_cannot_be_negative_is_refused_if_it_is),
        cmocka_unit_test(an_answer_to_another_question_is_passed_over),
        cmocka_unit_test(the_head_is_looked_at),
        cmocka_unit_test(fields_out_of_range_are_refused),
        cmocka_unit_test(an_answer_of_any_other_length_is_refused),
        cmocka_unit_test(random_changes_never_crash_and_keep_the_ranges),
        cmocka_unit_test(a_clock_that_is_fast_is_ahead_of_utc),
        cmocka_unit_test(half_the_root_delay_counts_rounded_up),
        cmocka_unit_test(the_dispersion_counts_whole),
        cmocka_unit_test(the_last_offset_counts_whatever_its_sign),
        cmocka_unit_test(the_sigma_in_the_dispersion_becomes_five),
        cmocka_unit_test(digits_that_chronyd_rounds_off_count),
        cmocka_unit_test(it_grows_by_skew_and_residual_frequency),
        cmocka_unit_test(a_change_of_the_offset_is_no_surer_than_the_answers_are),
        cmocka_unit_test(the_last_measurement_is_dated_and_not_too_late),
        cmocka_unit_test(nothing_wraps),
        cmocka_unit_test(leap_seconds_are_passed_on),
        cmocka_unit_test(an_unsynchronised_chronyd_claims_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
