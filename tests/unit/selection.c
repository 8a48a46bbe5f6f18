/* SPDX-License-Identifier: MIT */
/* Agreement of claims: by hand, against an oracle that tries every point, and under lies. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dice.h"
#include "daemon/sources/selection.h"

#define WORLDS 20000
#define SPAN 40 /* points of the small worlds: -SPAN to SPAN */

static struct claim bound(int64_t offset_ns, uint64_t error_ns)
{
    return (struct claim){.offset_ns = offset_ns, .error_ns = error_ns, .is_synchronized = true};
}

static struct claim estimate(int64_t offset_ns, uint64_t error_ns)
{
    return (struct claim){.offset_ns = offset_ns, .error_ns = error_ns};
}

static void assert_range(const struct selection *agreement, int64_t low_ns, int64_t high_ns)
{
    assert_true(agreement->is_reached);
    assert_true(agreement->low_ns == low_ns);
    assert_true(agreement->high_ns == high_ns);
}

static void nobody_agrees_on_nothing(void **state)
{
    struct selection none = selection_of(NULL, 0, 0, 0);
    (void)state;
    assert_false(none.is_reached);
    assert_false(none.is_synchronized);
    assert_true(none.low_ns == INT64_MIN && none.high_ns == INT64_MAX);
    assert_int_equal(none.count, 0);
    assert_int_equal(none.falsetickers, 0);
}

static void one_claim_agrees_with_itself(void **state)
{
    struct claim claim = bound(30, 10);
    struct selection one = selection_of(&claim, 1, 0, 0);
    (void)state;
    assert_range(&one, 20, 40);
    assert_true(one.is_synchronized);
    assert_int_equal(one.agreeing, 1);
    assert_int_equal(one.falsetickers, 0);
}

static void two_that_overlap_agree_on_what_they_share(void **state)
{
    struct claim claims[] = {bound(0, 10), bound(15, 10)};
    struct selection two = selection_of(claims, 2, 0, 0);
    (void)state;
    assert_range(&two, 5, 10);
    assert_int_equal(two.agreeing, 2);
}

static void ranges_that_touch_share_a_point(void **state)
{
    struct claim claims[] = {bound(0, 10), bound(20, 10)};
    struct selection two = selection_of(claims, 2, 0, 0);
    (void)state;
    assert_range(&two, 10, 10);
}

static void two_that_contradict_each_other_are_a_tie_and_name_no_liar(void **state)
{
    struct claim claims[] = {bound(0, 10), bound(21, 10)};
    struct selection two = selection_of(claims, 2, 0, 0);
    (void)state;
    assert_false(two.is_reached);
    assert_false(two.is_synchronized);
    assert_int_equal(two.falsetickers, 0);
    assert_int_equal(two.agreeing, 0);
    assert_int_equal(two.count, 2);
}

static void two_against_two_are_a_tie(void **state)
{
    struct claim claims[] = {bound(0, 1), bound(0, 1), bound(9, 1), bound(9, 1)};
    struct selection four = selection_of(claims, 4, 0, 0);
    (void)state;
    assert_false(four.is_reached);
    assert_int_equal(four.falsetickers, 0);
}

static void a_liar_among_three_is_named(void **state)
{
    struct claim claims[] = {bound(3, 10), bound(1000, 10), bound(-3, 10)};
    struct selection three = selection_of(claims, 3, 0, 0);
    (void)state;
    assert_range(&three, -7, 7);
    assert_int_equal(three.falsetickers, 1u << 1);
    assert_int_equal(three.agreeing, 2);
    assert_int_equal(three.count, 3);
}

static void an_estimate_does_not_outvote_a_bound(void **state)
{
    struct claim claims[] = {bound(0, 10), estimate(500, 10), estimate(500, 10)};
    struct selection all = selection_of(claims, 3, 0, 0);
    (void)state;
    assert_range(&all, -10, 10);
    assert_true(all.is_synchronized);
    assert_int_equal(all.falsetickers, 1u << 1 | 1u << 2);
    assert_int_equal(all.count, 1);
}

static void an_estimate_does_not_narrow_a_bound(void **state)
{
    struct claim claims[] = {bound(0, 10), estimate(0, 1)};
    struct selection all = selection_of(claims, 2, 0, 0);
    (void)state;
    assert_range(&all, -10, 10);
    assert_int_equal(all.falsetickers, 0);
}

static void estimates_alone_agree_but_follow_nobody(void **state)
{
    struct claim claims[] = {estimate(0, 10), estimate(5, 10)};
    struct selection all = selection_of(claims, 2, 0, 0);
    (void)state;
    assert_range(&all, -5, 10);
    assert_false(all.is_synchronized);
}

static void who_knows_nothing_neither_votes_nor_lies(void **state)
{
    struct claim claims[] = {bound(0, UINT64_MAX), bound(0, 5), bound(50, 5)};
    struct selection all = selection_of(claims, 3, 0, 0);
    (void)state;
    assert_false(all.is_reached); /* it would have been two of three */
    assert_int_equal(all.count, 2);
    all = selection_of(claims, 2, 0, 0);
    assert_range(&all, -5, 5);
    assert_int_equal(all.falsetickers, 0);
    all = selection_of(claims, 1, 0, 0);
    assert_false(all.is_reached);
}

static void claims_beyond_the_most_are_left_out(void **state)
{
    struct claim claims[SELECTION_CLAIMS + 1];
    (void)state;
    for (int i = 0; i < SELECTION_CLAIMS; i++)
        claims[i] = bound(0, 10);
    claims[SELECTION_CLAIMS] = bound(0, 1);
    struct selection all = selection_of(claims, SELECTION_CLAIMS + 1, 0, 0);
    assert_range(&all, -10, 10);
    assert_int_equal(all.count, SELECTION_CLAIMS);
}

/* ---- ageing -------------------------------------------------------------------------------- */

static void a_claim_grows_by_its_own_rate_and_the_oscillator_s(void **state)
{
    struct claim claim = bound(7, 100);
    int64_t low_ns, high_ns;
    (void)state;
    claim.mono_ns = 5000000000;
    claim.dispersion_ppb = 3000;
    claim_ends(&claim, 7000000000, 50000, &low_ns, &high_ns);
    assert_true(low_ns == 7 - 100 - 2 * 53000);
    assert_true(high_ns == 7 + 100 + 2 * 53000);
    /* and as much before it as after it */
    claim_ends(&claim, 3000000000, 50000, &low_ns, &high_ns);
    assert_true(high_ns == 7 + 100 + 2 * 53000);
}

static void growth_is_rounded_up(void **state)
{
    struct claim claim = bound(0, 0);
    int64_t low_ns, high_ns;
    (void)state;
    claim_ends(&claim, 1, 1, &low_ns, &high_ns);
    assert_true(low_ns == -1 && high_ns == 1);
    claim_ends(&claim, 1000000001, 1, &low_ns, &high_ns);
    assert_true(low_ns == -2 && high_ns == 2);
}

/* And what a newer measurement has it slewed by: 500 ppm, either way. */
static void what_is_being_corrected_may_be_gone_but_not_beyond_zero(void **state)
{
    struct claim claim = bound(1000, 10);
    int64_t low_ns, high_ns;
    (void)state;
    claim.is_correcting = true;
    claim_ends(&claim, 0, 0, &low_ns, &high_ns);
    assert_true(low_ns == 990 && high_ns == 1010); /* at once nothing has moved */
    claim_ends(&claim, 800, 0, &low_ns, &high_ns);
    assert_true(low_ns == 889 && high_ns == 1011);
    claim_ends(&claim, 1000000, 0, &low_ns, &high_ns);
    assert_true(low_ns == -510 && high_ns == 1510);
    claim.offset_ns = -1000;
    claim_ends(&claim, 1000000, 0, &low_ns, &high_ns);
    assert_true(low_ns == -1510 && high_ns == 510);
}

static void others_may_have_slewed_the_system_clock_either_way(void **state)
{
    struct claim claim = bound(0, 10);
    int64_t low_ns, high_ns;
    (void)state;
    claim.is_slewed_by_others = true;
    claim_ends(&claim, 0, 0, &low_ns, &high_ns);
    assert_true(low_ns == -10 && high_ns == 10);
    claim_ends(&claim, 1000000, 0, &low_ns, &high_ns);
    assert_in_range(-low_ns, 510, 511);
    assert_in_range(high_ns, 510, 511);
}

static void sums_end_at_the_largest_number(void **state)
{
    const int64_t offsets[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
    const uint64_t errors[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    const int64_t times[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    (void)state;
    for (unsigned i = 0; i < 6; i++)
        for (unsigned j = 0; j < 5; j++)
            for (unsigned k = 0; k < 25; k++) {
                struct claim claim = bound(offsets[i], errors[j]);
                int64_t low_ns, high_ns;
                claim.mono_ns = times[k / 5];
                claim.dispersion_ppb = UINT32_MAX;
                claim.is_correcting = (i + j + k) & 1;
                claim_ends(&claim, times[k % 5], UINT32_MAX, &low_ns, &high_ns);
                assert_true(low_ns <= offsets[i] && offsets[i] <= high_ns);
                if (errors[j] == UINT64_MAX)
                    assert_true(low_ns < 0 && high_ns >= INT64_MAX - 1);
            }
}

static void a_claim_of_long_ago_is_worth_nothing(void **state)
{
    struct claim claim = bound(0, 1);
    int64_t low_ns, high_ns;
    (void)state;
    /* 292 years at 4.5 s a second: 2.25 times 2^64 ns, of which a wrap would leave a quarter */
    claim.dispersion_ppb = 4000000000;
    claim_ends(&claim, INT64_MAX, 500000000, &low_ns, &high_ns);
    assert_true(low_ns <= -INT64_MAX && high_ns == INT64_MAX);
}

/* ---- against an oracle --------------------------------------------------------------------- */

static struct claim small_claim(struct dice *dice)
{
    return bound((int64_t)dice_below(dice, 2 * SPAN / 2) - SPAN / 2, dice_below(dice, 12));
}

static bool contains(const struct claim *claim, int64_t point)
{
    return claim->offset_ns - (int64_t)claim->error_ns <= point &&
        point <= claim->offset_ns + (int64_t)claim->error_ns;
}

static unsigned votes_at(const struct claim *claims, unsigned count, int64_t point)
{
    unsigned votes = 0;
    for (unsigned i = 0; i < count; i++)
        votes += contains(&claims[i], point);
    return votes;
}

/* The range from the first to the last point with the most votes, if these are a majority. */
static struct selection oracle(const struct claim *claims, unsigned count)
{
    struct selection best = {.low_ns = INT64_MIN, .high_ns = INT64_MAX, .count = count};
    unsigned most = 0;
    for (int64_t point = -SPAN; point <= SPAN; point++) {
        unsigned votes = votes_at(claims, count, point);
        if (votes > most)
            best.low_ns = point;
        if (votes >= most && votes > 0)
            best.high_ns = point;
        most = votes > most ? votes : most;
    }
    best.is_reached = 2 * most > count;
    if (!best.is_reached) {
        best.low_ns = INT64_MIN;
        best.high_ns = INT64_MAX;
    }
    return best;
}

static void every_small_world_is_as_an_oracle_says(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int world = 0; world < WORLDS; world++) {
        struct claim claims[SELECTION_CLAIMS];
        unsigned count = (unsigned)dice_below(&dice, SELECTION_CLAIMS + 1);
        for (unsigned i = 0; i < count; i++)
            claims[i] = small_claim(&dice);
        struct selection want = oracle(claims, count), got = selection_of(claims, count, 0, 0);
        assert_int_equal(got.is_reached, want.is_reached);
        assert_true(got.low_ns == want.low_ns && got.high_ns == want.high_ns);
        for (unsigned i = 0; i < count && got.is_reached; i++) {
            bool apart = claims[i].offset_ns - (int64_t)claims[i].error_ns > got.high_ns ||
                claims[i].offset_ns + (int64_t)claims[i].error_ns < got.low_ns;
            assert_int_equal(got.falsetickers >> i & 1, apart);
        }
    }
}

/* Whoever lies says something that no honest claim leaves room for. */
static void a_minority_of_liars_cannot_move_the_range_off_the_truth(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int world = 0; world < WORLDS; world++) {
        struct claim claims[SELECTION_CLAIMS];
        unsigned count = 1 + (unsigned)dice_below(&dice, SELECTION_CLAIMS);
        unsigned falsetickers = (unsigned)dice_below(&dice, (count + 1) / 2);
        int64_t truth_ns = (int64_t)dice_below(&dice, 2000000000) - 1000000000;
        for (unsigned i = 0; i < count; i++) {
            uint64_t error_ns = 1 + dice_below(&dice, 1000000);
            int64_t off_ns = (int64_t)dice_below(&dice, 2 * error_ns + 1) - (int64_t)error_ns;
            if (i < falsetickers)
                off_ns = 10000000 + (int64_t)dice_below(&dice, 1000000);
            claims[i] = bound(truth_ns + off_ns, error_ns);
        }
        struct selection got = selection_of(claims, count, 0, 0);
        assert_true(got.is_reached);
        assert_true(got.low_ns <= truth_ns && truth_ns <= got.high_ns);
        assert_true(got.falsetickers == ((uint64_t)1 << falsetickers) - 1);
    }
}

static void the_order_of_the_claims_does_not_matter(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int world = 0; world < WORLDS / 10; world++) {
        struct claim claims[SELECTION_CLAIMS];
        for (unsigned i = 0; i < SELECTION_CLAIMS; i++)
            claims[i] = small_claim(&dice);
        struct selection one = selection_of(claims, SELECTION_CLAIMS, 0, 0);
        for (unsigned i = 0; i < SELECTION_CLAIMS; i++) {
            unsigned j = (unsigned)dice_below(&dice, SELECTION_CLAIMS);
            struct claim kept = claims[i];
            claims[i] = claims[j];
            claims[j] = kept;
        }
        struct selection two = selection_of(claims, SELECTION_CLAIMS, 0, 0);
        assert_true(one.low_ns == two.low_ns && one.high_ns == two.high_ns);
        assert_int_equal(one.agreeing, two.agreeing);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_agrees_on_nothing),
        cmocka_unit_test(one_claim_agrees_with_itself),
        cmocka_unit_test(two_that_overlap_agree_on_what_they_share),
        cmocka_unit_test(ranges_that_touch_share_a_point),
        cmocka_unit_test(two_that_contradict_each_other_are_a_tie_and_name_no_liar),
        cmocka_unit_test(two_against_two_are_a_tie),
        cmocka_unit_test(a_liar_among_three_is_named),
        cmocka_unit_test(an_estimate_does_not_outvote_a_bound),
        cmocka_unit_test(an_estimate_does_not_narrow_a_bound),
        cmocka_unit_test(estimates_alone_agree_but_follow_nobody),
        cmocka_unit_test(who_knows_nothing_neither_votes_nor_lies),
        cmocka_unit_test(claims_beyond_the_most_are_left_out),
        cmocka_unit_test(a_claim_grows_by_its_own_rate_and_the_oscillator_s),
        cmocka_unit_test(growth_is_rounded_up),
        cmocka_unit_test(what_is_being_corrected_may_be_gone_but_not_beyond_zero),
        cmocka_unit_test(others_may_have_slewed_the_system_clock_either_way),
        cmocka_unit_test(sums_end_at_the_largest_number),
        cmocka_unit_test(a_claim_of_long_ago_is_worth_nothing),
        cmocka_unit_test(every_small_world_is_as_an_oracle_says),
        cmocka_unit_test(a_minority_of_liars_cannot_move_the_range_off_the_truth),
        cmocka_unit_test(the_order_of_the_claims_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
