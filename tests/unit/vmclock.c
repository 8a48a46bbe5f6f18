/* SPDX-License-Identifier: MIT */
/* vmclock: its bytes, and what follows from them. For the driver see vmclock_driver.c. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include <timebase/counter.h>
#include <timebase/error.h>
#include <timebase/page.h>

#include "dice.h"
#include "vmclock_page.h"

#define CASES 20000

static struct vmclock parsed(void)
{
    struct vmclock clock;
    assert_int_equal(vmclock_parse(page, sizeof(page), &clock), TIMEBASE_OK);
    return clock;
}

/* The moment at which the page's clock stands, with the system clock right. */
static struct vmclock_moment moment_of(const struct vmclock *clock)
{
    return (struct vmclock_moment){.ticks = clock->counter_value,
                                   .mono_ns = 5 * (int64_t)SEC_NS,
                                   .utc_offset_ns = (NOW_SEC - 5) * (int64_t)SEC_NS,
                                   .counter_id = clock->counter_id};
}

static struct claim claim_of(const struct vmclock *clock, const struct vmclock_moment *moment)
{
    struct claim claim;
    const char *reason = NULL;
    assert_int_equal(vmclock_claim(clock, moment, &claim, &reason), TIMEBASE_OK);
    return claim;
}

static int error_of(const struct vmclock *clock, const struct vmclock_moment *moment)
{
    struct claim claim;
    const char *reason = NULL;
    int error = vmclock_claim(clock, moment, &claim, &reason);
    assert_non_null(reason);
    return error;
}

static void every_field_is_read_little_endian(void **state)
{
    (void)state;
    fill();
    for (size_t i = 0x0a; i < VMCLOCK_SIZE; i++)
        page[i] = (unsigned char)i;
    struct vmclock clock = parsed();
    assert_int_equal(clock.counter_id, 0x0a);
    assert_int_equal(clock.time_type, 0x0b);
    assert_int_equal(clock.seq, 0x0f0e0d0c);
    assert_true(clock.disruption_marker == 0x1716151413121110);
    assert_true(clock.flags == 0x1f1e1d1c1b1a1918);
    assert_int_equal(clock.status, 0x22);
    assert_int_equal(clock.tai_offset_sec, 0x2524);
    assert_int_equal(clock.leap, 0x26);
    assert_int_equal(clock.period_shift, 0x27);
    assert_true(clock.counter_value == 0x2f2e2d2c2b2a2928);
    assert_true(clock.period == 0x3736353433323130);
    assert_true(clock.period_maxerror == 0x4746454443424140);
    assert_true(clock.time_sec == 0x4f4e4d4c4b4a4948);
    assert_true(clock.time_frac == 0x5756555453525150);
    assert_true(clock.time_esterror_ns == 0x5f5e5d5c5b5a5958);
    assert_true(clock.time_maxerror_ns == 0x6766656463626160);
}

static void other_magic_sizes_and_versions_are_refused(void **state)
{
    struct vmclock clock;
    (void)state;
    fill();
    for (size_t length = 0; length < VMCLOCK_SIZE_MIN; length++)
        assert_int_equal(vmclock_parse(page, length, &clock), TIMEBASE_E_FORMAT);
    assert_int_equal(vmclock_parse(page, VMCLOCK_SIZE, &clock), TIMEBASE_OK);
    put(0x00, 4, VMCLOCK_MAGIC + 1);
    assert_int_equal(vmclock_parse(page, sizeof(page), &clock), TIMEBASE_E_FORMAT);
    fill();
    put(0x04, 4, VMCLOCK_SIZE_MIN - 1);
    assert_int_equal(vmclock_parse(page, sizeof(page), &clock), TIMEBASE_E_FORMAT);
    fill();
    put(0x08, 2, 2);
    assert_int_equal(vmclock_parse(page, sizeof(page), &clock), TIMEBASE_E_FORMAT);
}

static void at_its_own_tick_it_shows_its_own_time(void **state)
{
    (void)state;
    fill();
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    struct claim claim = claim_of(&clock, &moment);
    assert_true(claim.offset_ns == 0);
    assert_in_range(claim.error_ns, 100, 110);
    assert_true(claim.mono_ns == moment.mono_ns);
    assert_true(claim.is_synchronized);
    assert_int_equal((int16_t)(claim.flags >> TIMEBASE_LINE_TAI_SHIFT), 37);
    assert_true(claim.flags & TIMEBASE_LINE_TAI_VALID);
    assert_true(claim.is_slewed_by_others);
}

static void a_system_clock_that_is_fast_has_a_positive_offset(void **state)
{
    (void)state;
    fill();
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    moment.utc_offset_ns += 12345;
    assert_true(claim_of(&clock, &moment).offset_ns == 12345);
}

static void a_clock_that_shows_utc_is_taken_as_it_is(void **state)
{
    (void)state;
    fill();
    put(0x0b, 1, VMCLOCK_UTC);
    put(0x48, 8, NOW_SEC);
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    assert_true(claim_of(&clock, &moment).offset_ns == 0);
}

/* Against long division in 128 bits, wherever the tick lies and however the period is shifted. */
static void time_advances_by_ticks_times_period(void **state)
{
#ifdef __SIZEOF_INT128__
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < CASES; i++) {
        unsigned shift = (unsigned)dice_below(&dice, 30);
        fill();
        put(0x27, 1, shift);
        put(0x30, 8, (uint64_t)GHZ_PERIOD << shift);
        put(0x50, 8, dice_roll(&dice));
        struct vmclock clock = parsed();
        struct vmclock_moment moment = moment_of(&clock);
        int64_t d = (int64_t)dice_below(&dice, 1000000000000) - 500000000000;
        moment.ticks += (uint64_t)d;
        unsigned __int128 start = (unsigned __int128)NOW_SEC << 64 | clock.time_frac;
        unsigned __int128 time = start + (unsigned __int128)((__int128)d * GHZ_PERIOD);
        int64_t want_ns = (int64_t)((uint64_t)(time >> 64) * SEC_NS +
                                    (uint64_t)(((time & UINT64_MAX) * SEC_NS) >> 64));
        int64_t got_ns =
            moment.mono_ns + moment.utc_offset_ns - claim_of(&clock, &moment).offset_ns;
        assert_true(got_ns - want_ns <= 1 && want_ns - got_ns <= 1);
    }
#else
    (void)state;
    skip();
#endif
}

static void the_period_s_error_counts_both_ways(void **state)
{
    (void)state;
    fill();
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    uint64_t least_ns = claim_of(&clock, &moment).error_ns;
    moment.ticks += 2000000000; /* 2 s at 10 ppm */
    uint64_t later_ns = claim_of(&clock, &moment).error_ns;
    assert_in_range(later_ns, least_ns + 19990, least_ns + 20010);
    moment.ticks -= 4000000000;
    assert_in_range(claim_of(&clock, &moment).error_ns, least_ns + 19990, least_ns + 20010);
    assert_in_range(claim_of(&clock, &moment).dispersion_ppb, 10000, 10010);
}

static uint64_t error_by(const struct claim *claim, uint32_t drift_ppb)
{
    int64_t low_ns, high_ns;
    claim_ends(claim, claim->mono_ns, drift_ppb, &low_ns, &high_ns);
    return (uint64_t)(high_ns - claim->offset_ns);
}

static void without_a_period_s_error_the_configured_allowance_counts(void **state)
{
    (void)state;
    fill();
    put(0x18, 8, VMCLOCK_TAI_OFFSET_VALID | VMCLOCK_TIME_MAXERROR_VALID);
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    uint64_t least_ns = claim_of(&clock, &moment).error_ns;
    moment.ticks += 2000000000; /* 2 s */
    struct claim claim = claim_of(&clock, &moment);
    assert_in_range(error_by(&claim, 50000), least_ns + 99990, least_ns + 100010);
    assert_in_range(error_by(&claim, 200000), least_ns + 399990, least_ns + 400010);
}

static void the_bracket_counts(void **state)
{
    (void)state;
    fill();
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    uint64_t least_ns = claim_of(&clock, &moment).error_ns;
    moment.error_ticks = 700;
    assert_in_range(claim_of(&clock, &moment).error_ns, least_ns + 699, least_ns + 701);
}

static void an_estimated_error_makes_an_estimate(void **state)
{
    (void)state;
    fill();
    put(0x18, 8,
        VMCLOCK_TAI_OFFSET_VALID | VMCLOCK_TIME_ESTERROR_VALID | VMCLOCK_PERIOD_MAXERROR_VALID);
    put(0x58, 8, 30);
    put(0x60, 8, 1);
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    struct claim claim = claim_of(&clock, &moment);
    assert_false(claim.is_synchronized);
    assert_in_range(claim.error_ns, 150, 160);
    put(0x18, 8, VMCLOCK_TAI_OFFSET_VALID); /* no word of an error at all */
    clock = parsed();
    claim = claim_of(&clock, &moment);
    assert_false(claim.is_synchronized);
    assert_true(claim.error_ns == UINT64_MAX);
}

static void assert_only_marker(const struct vmclock *clock)
{
    struct vmclock_moment moment = moment_of(clock);
    struct claim claim;
    const char *reason = NULL;
    assert_int_equal(vmclock_claim(clock, &moment, &claim, &reason), TIMEBASE_OK);
    assert_true(claim.error_ns == UINT64_MAX);
    assert_false(claim.is_synchronized);
    assert_true(claim.disruption_marker == 42);
    assert_non_null(reason);
}

static void where_there_is_no_utc_the_marker_is_still_told(void **state)
{
    const uint64_t useless[] = {VMCLOCK_UNKNOWN, VMCLOCK_INITIALIZING, VMCLOCK_UNRELIABLE, 5, 255};
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        fill();
        put(0x22, 1, useless[i]);
        struct vmclock clock = parsed();
        assert_only_marker(&clock);
    }
    for (uint64_t type = VMCLOCK_MONOTONIC; type < 6; type++) {
        fill();
        put(0x0b, 1, type);
        struct vmclock clock = parsed();
        assert_only_marker(&clock);
    }
    fill();
    put(0x18, 8, VMCLOCK_TIME_MAXERROR_VALID); /* TAI - UTC is not told */
    struct vmclock clock = parsed();
    assert_only_marker(&clock);
    fill();
    put(0x0b, 1, VMCLOCK_UTC);
    put(0x26, 1, VMCLOCK_LEAP_NOW); /* which of the two seconds? */
    clock = parsed();
    assert_only_marker(&clock);
}

static void a_free_running_clock_is_an_estimate(void **state)
{
    (void)state;
    fill();
    put(0x22, 1, VMCLOCK_FREERUNNING);
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    struct claim claim = claim_of(&clock, &moment);
    assert_false(claim.is_synchronized);
    assert_in_range(claim.error_ns, 100, 110);
}

static void a_marker_of_zero_is_told_too(void **state)
{
    (void)state;
    fill();
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    uint64_t first = claim_of(&clock, &moment).disruption_marker;
    clock.disruption_marker = 0;
    uint64_t zero = claim_of(&clock, &moment).disruption_marker;
    clock.disruption_marker = UINT64_MAX;
    uint64_t last = claim_of(&clock, &moment).disruption_marker;
    assert_true(first != 0 && zero != 0 && last != 0);
    assert_true(zero != first && last != first);
}

static void another_counter_is_refused(void **state)
{
    (void)state;
    fill();
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    moment.counter_id++;
    assert_int_equal(error_of(&clock, &moment), TIMEBASE_E_UNSUPPORTED);
    clock.counter_id = 0xff;
    assert_int_equal(error_of(&clock, &moment), TIMEBASE_E_UNSUPPORTED);
}

static void impossible_numbers_are_refused(void **state)
{
    (void)state;
    fill();
    struct vmclock clock = parsed(), wrong = clock;
    struct vmclock_moment moment = moment_of(&clock);
    wrong.period = 0;
    assert_int_equal(error_of(&wrong, &moment), TIMEBASE_E_FORMAT);
    wrong = clock;
    wrong.period_shift = 64;
    assert_int_equal(error_of(&wrong, &moment), TIMEBASE_E_FORMAT);
    wrong = clock;
    wrong.time_sec = UINT64_MAX;
    assert_int_equal(error_of(&wrong, &moment), TIMEBASE_E_FORMAT);
    wrong = clock;
    wrong.counter_value += 2000000000000000000; /* 63 years back, past 1970 */
    wrong.period = (uint64_t)GHZ_PERIOD * 40;
    assert_int_equal(error_of(&wrong, &moment), TIMEBASE_E_FORMAT);
}

static void leap_seconds_are_announced_on_the_month_s_last_day(void **state)
{
    static const struct {
        int64_t sec;
        bool is_last;
    } days[] = {{1483228800 - 1, true},                          /* 31 December 2016 */
                {1483228800, false},                             /* 1 January 2017 */
                {1483228800 - 86401, false}, {1709251199, true}, /* 29 February 2024 */
                {1709164799, false},                             /* 28 February 2024 */
                {1677628799, true},                              /* 28 February 2023 */
                {4107542399, true},                              /* 28 February 2100 */
                {1435708799, true}};                             /* 30 June 2015 */
    (void)state;
    for (unsigned i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
        fill();
        put(0x48, 8, (uint64_t)days[i].sec + 37);
        put(0x26, 1, VMCLOCK_LEAP_INSERT);
        struct vmclock clock = parsed();
        struct vmclock_moment moment = moment_of(&clock);
        uint32_t flags = claim_of(&clock, &moment).flags;
        assert_int_equal(!!(flags & TIMEBASE_LINE_LEAP_INSERT), days[i].is_last);
        clock.leap = VMCLOCK_LEAP_DELETE;
        flags = claim_of(&clock, &moment).flags;
        assert_int_equal(!!(flags & TIMEBASE_LINE_LEAP_DELETE), days[i].is_last);
    }
}

/* ---- words of 1.1 -------------------------------------------------------------------------- */

static void a_generation_is_read_where_the_page_has_one(void **state)
{
    struct vmclock clock;
    (void)state;
    fill();
    put(0x68, 8, 7);
    assert_true(parsed().generation == 0); /* the flag is not set */
    put(0x18, 8, VMCLOCK_GENERATION_PRESENT);
    assert_true(parsed().generation == 7);
    /* A page of 1.0 ends before it, whatever its flags say. */
    assert_int_equal(vmclock_parse(page, VMCLOCK_SIZE_MIN, &clock), TIMEBASE_OK);
    assert_true(clock.generation == 0);
    put(0x04, 4, VMCLOCK_SIZE_MIN);
    assert_true(parsed().generation == 0);
}

static uint64_t marker_with(uint64_t marker, uint64_t generation)
{
    put(0x10, 8, marker);
    put(0x68, 8, generation);
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    return claim_of(&clock, &moment).disruption_marker;
}

static void a_restored_guest_is_disrupted_as_a_migrated_one_is(void **state)
{
    (void)state;
    fill();
    put(0x18, 8, VMCLOCK_GENERATION_PRESENT);
    uint64_t marker = marker_with(41, 7);
    assert_true(marker != 0);
    assert_true(marker_with(41, 7) == marker);
    assert_true(marker_with(42, 7) != marker);
    assert_true(marker_with(41, 8) != marker);
    assert_true(marker_with(40, 8) != marker && marker_with(42, 6) != marker);
}

static void a_planned_disruption_is_told(void **state)
{
    static const struct {
        uint64_t flags;
        enum claim_notice notice;
    } cases[] = {{0, CLAIM_NOTICE_NONE},
                 {VMCLOCK_DISRUPTION_SOON, CLAIM_NOTICE_SOON},
                 {VMCLOCK_DISRUPTION_IMMINENT, CLAIM_NOTICE_IMMINENT},
                 {VMCLOCK_DISRUPTION_SOON | VMCLOCK_DISRUPTION_IMMINENT, CLAIM_NOTICE_IMMINENT}};
    (void)state;
    fill();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put(0x18, 8, cases[i].flags);
        struct vmclock clock = parsed();
        struct vmclock_moment moment = moment_of(&clock);
        /* Even where the page tells no UTC. */
        assert_int_equal(claim_of(&clock, &moment).notice, cases[i].notice);
    }
}

static void a_clock_that_smears_or_is_unreliable_is_refused_by_name(void **state)
{
    struct claim claim;
    const char *reason;
    (void)state;
    fill();
    struct vmclock clock = parsed();
    struct vmclock_moment moment = moment_of(&clock);
    for (unsigned type = VMCLOCK_SMEARED; type <= VMCLOCK_MAYBE_SMEARED; type++) {
        clock.time_type = (uint8_t)type;
        assert_int_equal(vmclock_claim(&clock, &moment, &claim, &reason), TIMEBASE_OK);
        assert_true(claim.error_ns == UINT64_MAX);
        assert_non_null(strstr(reason, "smears"));
    }
    clock.status = VMCLOCK_UNRELIABLE;
    assert_int_equal(vmclock_claim(&clock, &moment, &claim, &reason), TIMEBASE_OK);
    assert_non_null(strstr(reason, "unreliable"));
}

static void what_the_hypervisor_corrects_is_told_to_the_nanosecond(void **state)
{
    (void)state;
    fill();
    struct vmclock before = parsed(), now = before;
    uint64_t ticks = before.counter_value + 500000000;
    assert_true(vmclock_step_ns(&before, &now, ticks) == 0);
    now.time_frac = UINT64_C(1) << 44; /* 2^-20 s */
    assert_true(vmclock_step_ns(&before, &now, ticks) >= 953);
    assert_true(vmclock_step_ns(&now, &before, ticks) <= 954);
    now.time_type = VMCLOCK_UTC;
    assert_true(vmclock_step_ns(&before, &now, ticks) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read_little_endian),
        cmocka_unit_test(other_magic_sizes_and_versions_are_refused),
        cmocka_unit_test(at_its_own_tick_it_shows_its_own_time),
        cmocka_unit_test(a_system_clock_that_is_fast_has_a_positive_offset),
        cmocka_unit_test(a_clock_that_shows_utc_is_taken_as_it_is),
        cmocka_unit_test(time_advances_by_ticks_times_period),
        cmocka_unit_test(the_period_s_error_counts_both_ways),
        cmocka_unit_test(without_a_period_s_error_the_configured_allowance_counts),
        cmocka_unit_test(the_bracket_counts),
        cmocka_unit_test(an_estimated_error_makes_an_estimate),
        cmocka_unit_test(where_there_is_no_utc_the_marker_is_still_told),
        cmocka_unit_test(a_free_running_clock_is_an_estimate),
        cmocka_unit_test(a_marker_of_zero_is_told_too),
        cmocka_unit_test(another_counter_is_refused),
        cmocka_unit_test(impossible_numbers_are_refused),
        cmocka_unit_test(leap_seconds_are_announced_on_the_month_s_last_day),
        cmocka_unit_test(a_generation_is_read_where_the_page_has_one),
        cmocka_unit_test(a_restored_guest_is_disrupted_as_a_migrated_one_is),
        cmocka_unit_test(a_planned_disruption_is_told),
        cmocka_unit_test(a_clock_that_smears_or_is_unreliable_is_refused_by_name),
        cmocka_unit_test(what_the_hypervisor_corrects_is_told_to_the_nanosecond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
