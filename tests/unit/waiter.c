/* SPDX-License-Identifier: MIT */
/* What a waiter tells of itself, the margin's numbers, names, and fine readings. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "timing/calibration/calibration.h"
#include "timing/stages/rehearsal.h"
#include "waiting.h"

static struct timebase_waiter waiter;

static struct timebase_waiter_description fresh_waiter(void)
{
    assert_int_equal(timebase_waiter_init(&waiter, timebase_clock_default()), 0);
    return description_of(&waiter);
}

static void a_new_waiter_has_waited_for_nothing(void **state)
{
    struct timebase_waiter_description d = fresh_waiter();
    (void)state;
    assert_true(d.waits == 0 && d.late == 0 && d.disturbed == 0);
    assert_int_equal(d.calibrations, 1);
    assert_true(d.calibration_ns > 0);
}

static void its_description_is_possible(void **state)
{
    struct timebase_waiter_description d = fresh_waiter();
    (void)state;
    assert_in_range(d.mechanism, TIMEBASE_MECHANISM_LOOP, TIMEBASE_MECHANISM_RETURN);
    assert_true(d.readings >= 1 && d.readings <= 64);
    assert_in_range(d.power_hint, 0, 1);
    assert_true(d.cpu >= -1 && d.cpu < 1 << 16);
    assert_in_range(d.evidence, 1, EVERY_DISTURBANCE);
    assert_true(d.quantum_ns > 0 && d.quantum_ns < 1e6);
    assert_true(d.plain_bias_ns > 0 && d.plain_spread_ns >= 0);
    assert_true(d.margin_ns > 0);
}

static void its_exact_numbers_are_there_where_waits_are_exact(void **state)
{
    struct timebase_waiter_description d = fresh_waiter();
    (void)state;
    if (d.mechanism == TIMEBASE_MECHANISM_LOOP) {
        assert_int_equal(d.readings, 1);
        return;
    }
    assert_true(d.instruction_ns > 0);
    assert_true(d.least_ns > 0);
    assert_true(d.exact_spread_ns >= 0);
    assert_true(d.sample_ns > 0);
    assert_true(d.sample_ns <= d.quantum_ns * 1.001);
}

/* So found a calibration that was held up in its exact waits. */
static void an_event_before_its_last_poll_is_not_believed(void **state)
{
    struct waiter *inner = waiter_within(&waiter);
    (void)state;
    fresh_waiter();
    assert_true(!inner->learnt.exact || waiter_takes_time(inner));
    inner->tempo.cycle_ticks = 1;
    inner->learnt.tail.cycles = 40;
    inner->period.value = 60;
    assert_true(waiter_takes_time(inner));
    inner->learnt.tail.cycles = -1;
    assert_false(waiter_takes_time(inner));
}

/* ... and one that came to its targets too late to poll. */
static void polls_that_take_no_time_are_not_believed(void **state)
{
    struct waiter *inner = waiter_within(&waiter);
    (void)state;
    fresh_waiter();
    inner->tempo.cycle_ticks = 1;
    inner->learnt.tail.cycles = 40;
    inner->period.value = 0;
    assert_false(waiter_takes_time(inner));
}

/*
 * A run longer than the middle one that took longer than believed: its cycles are longer, and the
 * tail is shorter. Where the counter's step is long, that is too little known.
 */
static void runs_tell_the_tail_by_a_fine_counter(void **state)
{
    struct waiter *inner = waiter_within(&waiter);
    (void)state;
    fresh_waiter();
    for (int is_fine = 0; is_fine < 2; is_fine++) {
        inner->vernier.readings = is_fine ? 1 : APPROACH_FINE;
        inner->learnt.tail = (struct tempo_tail){.cycles = 200, .first_cycles = 200};
        tempo_init(&inner->tempo, 1);
        inner->period.value = 100;
        waiter_publish_tempo(inner);
        inner->approach.run = 100;
        waiter_learn_tempo(inner, 303, 0);
        assert_true(inner->tempo.cycle_ticks > 1);
        assert_true(is_fine ? inner->learnt.tail.cycles < 200 : inner->learnt.tail.cycles == 200);
    }
}

/* Nor is what it has learnt of them told. */
static void a_waiter_without_exact_waits_has_no_shortest_one(void **state)
{
    struct waiter *inner = waiter_within(&waiter);
    (void)state;
    fresh_waiter();
    inner->learnt.exact = 0;
    inner->learnt.tail.cycles = -1e6;
    struct timebase_waiter_description d = description_of(&waiter);
    assert_int_equal(d.mechanism, TIMEBASE_MECHANISM_LOOP);
    assert_true(d.least_ns == 0);
    assert_true(d.margin_ns > 0);
}

/* What is listed is noticed somewhere; what was noticed is listed. */
static void it_lists_what_it_could_notice(void **state)
{
    struct timebase_waiter_description d = fresh_waiter();
    (void)state;
    assert_true(d.evidence & TIMEBASE_DISTURBED_GAP);
    for (int i = 0; i < 2000; i++) {
        struct timebase_wait_result result;
        wait_by(&waiter, UNTIL_TICKS, target_in(UNTIL_TICKS, 2000), 0, &result);
        d = description_of(&waiter);
        assert_int_equal(result.disturbance & ~d.evidence, 0);
    }
}

static void calibrating_keeps_counts_and_margin(void **state)
{
    fresh_waiter();
    (void)state;
    for (int i = 0; i < 10; i++)
        wait_by(&waiter, UNTIL_TICKS, target_in(UNTIL_TICKS, -1000), 0, NULL);
    assert_int_equal(timebase_waiter_set_margin(&waiter, 0.5, 1), 0);
    struct timebase_waiter_description before = description_of(&waiter);
    assert_int_equal(timebase_waiter_calibrate(&waiter), 0);
    struct timebase_waiter_description after = description_of(&waiter);
    assert_int_equal(after.calibrations, 2);
    assert_true(after.waits == before.waits && after.waits == 10);
    assert_true(after.late == before.late && after.late == 10);
    assert_true(after.disturbed == before.disturbed);
}

/* By a counter that steps, exact, with polls so many ticks apart, which were 100 ticks apart. */
static struct waiter *with_polls_so_far_apart(double ticks)
{
    struct waiter *own = waiter_within(&waiter);
    fresh_waiter();
    own->vernier.readings = APPROACH_FINE;
    own->learnt.exact = 1;
    own->learnt.bare_period_ticks = 100;
    own->period.value = ticks;
    own->approach.pad_cycles = 0;
    return own;
}

static int is_calibrated_again(double polls_ticks)
{
    calibrate_again(with_polls_so_far_apart(polls_ticks), 0);
    return description_of(&waiter).calibrations - 1;
}

static void a_neighbour_that_has_gone_has_it_calibrated_again(void **state)
{
    (void)state;
    stay_on_this_cpu();
    assert_int_equal(is_calibrated_again(97), 0);
    assert_int_equal(is_calibrated_again(120), 0); /* one has come */
    assert_int_equal(is_calibrated_again(90), 1);
}

static void nor_more_than_some_times(void **state)
{
    (void)state;
    stay_on_this_cpu();
    struct waiter *own = with_polls_so_far_apart(50);
    own->calibrations = CALIBRATION_ATTEMPTS;
    calibrate_again(own, 0);
    assert_int_equal(own->calibrations, CALIBRATION_ATTEMPTS);
}

static void the_margins_numbers_have_their_ranges(void **state)
{
    static const double good[] = {1e-300, 0.01, 0.5, 0.999999};
    static const double bad[] = {0, -1e-300, -1, 1.000001, 2, INFINITY, -INFINITY, NAN};
    fresh_waiter();
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(timebase_waiter_set_margin(&waiter, good[i], 0.05), 0);
        assert_int_equal(timebase_waiter_set_margin(&waiter, 0.99, good[i]), 0);
    }
    assert_int_equal(timebase_waiter_set_margin(&waiter, 0.99, 1), 0);
    assert_int_equal(timebase_waiter_set_margin(&waiter, 1, 0.05), TIMEBASE_E_INVALID);
    struct timebase_waiter before = waiter;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(timebase_waiter_set_margin(&waiter, bad[i], 0.05), TIMEBASE_E_INVALID);
        assert_int_equal(timebase_waiter_set_margin(&waiter, 0.99, bad[i]), TIMEBASE_E_INVALID);
    }
    assert_memory_equal(&waiter, &before, sizeof(waiter));
}

static void every_name_is_another(void **state)
{
    const char *names[5 + 7 + 2];
    int count = 0;
    (void)state;
    for (int i = TIMEBASE_MECHANISM_NONE; i <= TIMEBASE_MECHANISM_RUN; i++)
        names[count++] = timebase_wait_mechanism_name(i);
    for (int bit = 1; bit <= (int)TIMEBASE_DISTURBED_SHARED; bit *= 2)
        names[count++] = timebase_wait_disturbance_name(bit);
    names[count++] = timebase_wait_mechanism_name(99);
    names[count++] = timebase_wait_disturbance_name(3);
    assert_int_equal(count, sizeof(names) / sizeof(names[0]));
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
    assert_string_equal(timebase_wait_mechanism_name(-1), names[count - 2]);
    assert_string_equal(timebase_wait_disturbance_name(0), names[count - 1]);
}

/* ---- fine readings ------------------------------------------------------------------------ */

/*
 * The way to it is taken off as it was when the waiter was calibrated, and where readings are slower
 * half as much again. An emulator may go that way in no time, compared with then.
 */
static void a_fine_reading_is_between_two_readings_around_it(void **state)
{
    double step = fresh_waiter().quantum_ns * ticks_per_ns();
    double widest = waiter_within(&waiter)->vernier.span_ticks + 1;
    double way = 1.5 * waiter_within(&waiter)->learnt.reading_ticks;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct timebase_fine_reading fine;
        uint64_t base = timebase_ticks() - (uint64_t)(i % 3) * 1000;
        uint64_t before = timebase_ticks_ordered();
        assert_in_range(timebase_wait_read_fine(&waiter, base, &fine), 0, 1);
        uint64_t after = timebase_ticks_ordered();
        double from = (double)(before - base) - step - way, to = (double)(after - base) + step;
        assert_true(fine.bound_ticks >= 0 && fine.bound_ticks <= widest * 0.5001);
        assert_true(fine.ticks >= from && fine.ticks <= to);
    }
}

static void fine_readings_increase(void **state)
{
    fresh_waiter();
    (void)state;
    uint64_t base = timebase_ticks();
    struct timebase_fine_reading last, fine;
    timebase_wait_read_fine(&waiter, base, &last);
    for (int i = 0; i < 20000; i++) {
        int uneven = timebase_wait_read_fine(&waiter, base, &fine);
        assert_true(fine.ticks + fine.bound_ticks >= last.ticks - last.bound_ticks);
        if (!uneven)
            assert_true(fine.ticks >= last.ticks);
        last = fine;
    }
}

/* Readings as a neighbour of the core makes them. */
static uint32_t apart_ticks;

static void take_readings(uint32_t readings[APPROACH_FINE])
{
    uint32_t first = (uint32_t)timebase_ticks();
    for (int k = 0; k < APPROACH_FINE; k++)
        readings[k] = first + (uint32_t)k * apart_ticks;
}

/* Of a counter that steps, with readings so far apart where 50 ticks were calibrated. */
static struct waiter *waiter_beside_a_neighbour(uint32_t ticks)
{
    fresh_waiter();
    stay_on_this_cpu();
    struct waiter *within = waiter_within(&waiter);
    apart_ticks = ticks;
    vernier_init(&within->vernier, 26);
    within->vernier.spacing_ticks = 50;
    within->vernier.readings = APPROACH_FINE;
    vernier_note_open(&within->vernier, APPROACH_VERNIER);
    tempo_init(&within->tempo, 0.7);
    estimate_init(&within->spacing, 50 / 0.7, WAITER_MEAN);
    within->learnt.series = 0;
    for (int i = 0; i < APPROACH_PADS; i++) {
        within->ways.fine[i] = take_readings;
        within->ways.series[i] = take_readings;
    }
    return within;
}

static void one_that_only_reads_follows_how_far_apart_readings_are(void **state)
{
    enum { A_FEW = 32 };
    struct waiter *within = waiter_beside_a_neighbour(60);
    struct timebase_fine_reading fine;
    (void)state;
    assert_int_equal(timebase_wait_read_fine(&waiter, timebase_ticks(), &fine), 0);
    double first_bound = fine.bound_ticks;
    for (int i = 0; i < A_FEW; i++)
        timebase_wait_read_fine(&waiter, timebase_ticks(), &fine);
    assert_true(fabs(within->vernier.spacing_ticks - 60) <= 0.1);
    assert_true(fine.bound_ticks > first_bound); /* none contradicts another any more */
}

/* They were read by what it had not found yet; and the next one to teach would be the 256th. */
static void bad_readings_of_a_calibration_do_not_count(void **state)
{
    struct waiter *within = waiter_within(&waiter);
    (void)state;
    fresh_waiter();
    within->bad_readings = 200;
    assert_int_equal(timebase_waiter_calibrate(&waiter), 0);
    assert_int_equal(within->bad_readings, 0);
}

/* Of a fine counter one reading is as good as it can be, and teaches nothing. */
static void a_single_reading_is_always_good(void **state)
{
    enum { A_FEW = 8 };
    struct waiter *within = waiter_beside_a_neighbour(60);
    struct timebase_fine_reading fine;
    (void)state;
    within->vernier.readings = 1;
    for (int i = 0; i < A_FEW; i++)
        assert_int_equal(timebase_wait_read_fine(&waiter, timebase_ticks(), &fine), 0);
    assert_int_equal(within->bad_readings, 0);
}

/* By a calibration that found readings so far apart, and the way to one so long; it always looks. */
static struct waiter *waiter_by_single_readings(double usual_gap_ticks, double reading_ticks)
{
    struct waiter *within = waiter_beside_a_neighbour(60);
    within->vernier.readings = 1;
    within->reading_later = 0;
    within->learnt.gap_every_ticks = 0;
    within->learnt.usual_gap_ticks = usual_gap_ticks;
    within->learnt.reading_ticks = reading_ticks;
    estimate_init(&within->reading_gap, usual_gap_ticks, 8);
    return within;
}

/* Where a reading that is taken now is told to be, behind the one it is. */
static double place_one(void)
{
    struct timebase_fine_readings taken;
    struct timebase_fine_reading fine;
    timebase_wait_take_fine(&waiter, &taken);
    timebase_wait_place_fine(&waiter, &taken, taken.ticks[0], &fine);
    return fine.ticks;
}

/* What was taken before says the same for good; what is taken later comes by so much sooner. */
static void a_single_reading_is_placed_by_how_slow_readings_are_now(void **state)
{
    enum { USUAL = 1 << 20 };
    struct waiter *within = waiter_by_single_readings(USUAL, USUAL);
    struct timebase_fine_readings before;
    struct timebase_fine_reading then, fine;
    (void)state;
    timebase_wait_take_fine(&waiter, &before);
    within->reading_gap.value = USUAL + 1000;
    timebase_wait_place_fine(&waiter, &before, before.ticks[0], &then); /* looks, and sees less */
    double later = within->reading_gap.value - USUAL;
    assert_true(later != 0 && fabs(later) < USUAL / 2);
    assert_true(fabs(then.ticks - place_one() - later) < 0.1);
    timebase_wait_place_fine(&waiter, &before, before.ticks[0], &fine);
    assert_true(fine.ticks == then.ticks);
}

/* An emulator's, beside others' work: none is told to be before its call or behind its end. */
static void a_gap_that_no_neighbour_makes_says_nothing(void **state)
{
    enum { GAP = 50, WAY = 60 };
    (void)state;
    for (int is_longer = 0; is_longer <= 1; is_longer++) {
        struct waiter *within = waiter_by_single_readings(GAP, WAY);
        within->reading_gap.value = is_longer ? 1e6 : -1e6;
        double usual = place_one(), now = place_one();
        assert_true(fabs(usual - now) == GAP / 2 && (now < usual) == is_longer);
    }
    waiter_by_single_readings(GAP, 0)->reading_gap.value = 1e6;
    assert_true(place_one() == place_one());
}

/* Two steps apart they tell no more than one reading does. */
static void readings_that_see_one_phase_are_put_further_apart(void **state)
{
    enum { A_FEW = 64 };
    struct waiter *within = waiter_beside_a_neighbour(52);
    struct timebase_fine_reading fine;
    (void)state;
    for (int i = 0; i < A_FEW; i++) {
        assert_int_equal(timebase_wait_read_fine(&waiter, timebase_ticks(), &fine), 0);
        apart_ticks = 52 + 4 * (uint32_t)within->learnt.series;
    }
    assert_int_not_equal(within->learnt.series, 0);
    assert_true(fabs(within->vernier.spacing_ticks - apart_ticks) <= 0.5);
}

static void rehearsals_are_read_by_how_far_apart_readings_are_now(void **state)
{
    enum { A_FEW = 64 };
    struct waiter *within = waiter_beside_a_neighbour(60);
    (void)state;
    within->learnt.exact = 0;
    for (int i = 0; i < A_FEW; i++)
        rehearsal_cold(within, (struct rehearsal_plan){0, EVENT_CALLED, 0});
    assert_true(fabs(within->vernier.spacing_ticks - 50) <= 0.001);
    for (int i = 0; i < A_FEW; i++)
        rehearsal_near(within, (struct rehearsal_plan){0, EVENT_CALLED, 0});
    assert_true(fabs(within->vernier.spacing_ticks - 60) <= 0.1);
}

/* What was taken says the same whenever it is placed; what is taken next comes behind its end. */
static void readings_are_placed_at_any_time(void **state)
{
    (void)state;
    fresh_waiter();
    for (int i = 0; i < 1000; i++) {
        struct timebase_fine_readings taken, next;
        struct timebase_fine_reading placed, again, second;
        uint64_t base = timebase_ticks();
        assert_int_equal(timebase_wait_take_fine(&waiter, &taken), 0);
        assert_int_equal(timebase_wait_take_fine(&waiter, &next), 0);
        assert_in_range(timebase_wait_place_fine(&waiter, &taken, base, &placed), 0, 1);
        assert_in_range(timebase_wait_place_fine(&waiter, &taken, base - 500, &again), 0, 1);
        assert_in_range(timebase_wait_place_fine(&waiter, &next, base, &second), 0, 1);
        double step = waiter_within(&waiter)->vernier.span_ticks + 1;
        assert_true(fabs(again.ticks - 500 - placed.ticks) <= step);
        assert_true(placed.last_ticks >= placed.ticks && second.ticks >= placed.ticks - step);
    }
}

static void a_fine_reading_needs_a_place(void **state)
{
    struct timebase_fine_readings taken;
    struct timebase_fine_reading out;
    struct timebase_waiter none = {{0}};
    fresh_waiter();
    (void)state;
    assert_int_equal(timebase_wait_take_fine(&waiter, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_take_fine(&none, &taken), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_take_fine(&waiter, &taken), 0);
    assert_int_equal(timebase_wait_place_fine(&waiter, &taken, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_place_fine(&waiter, NULL, 0, &out), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_place_fine(&none, &taken, 0, &out), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_wait_read_fine(&waiter, 0, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_waiter_describe(&waiter, NULL), TIMEBASE_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_tell_the_tail_by_a_fine_counter),
        cmocka_unit_test(a_new_waiter_has_waited_for_nothing),
        cmocka_unit_test(its_description_is_possible),
        cmocka_unit_test(its_exact_numbers_are_there_where_waits_are_exact),
        cmocka_unit_test(an_event_before_its_last_poll_is_not_believed),
        cmocka_unit_test(polls_that_take_no_time_are_not_believed),
        cmocka_unit_test(a_waiter_without_exact_waits_has_no_shortest_one),
        cmocka_unit_test(it_lists_what_it_could_notice),
        cmocka_unit_test(calibrating_keeps_counts_and_margin),
        cmocka_unit_test(a_neighbour_that_has_gone_has_it_calibrated_again),
        cmocka_unit_test(nor_more_than_some_times),
        cmocka_unit_test(the_margins_numbers_have_their_ranges),
        cmocka_unit_test(every_name_is_another),
        cmocka_unit_test(a_fine_reading_is_between_two_readings_around_it),
        cmocka_unit_test(fine_readings_increase),
        cmocka_unit_test(one_that_only_reads_follows_how_far_apart_readings_are),
        cmocka_unit_test(bad_readings_of_a_calibration_do_not_count),
        cmocka_unit_test(a_single_reading_is_always_good),
        cmocka_unit_test(a_single_reading_is_placed_by_how_slow_readings_are_now),
        cmocka_unit_test(a_gap_that_no_neighbour_makes_says_nothing),
        cmocka_unit_test(readings_that_see_one_phase_are_put_further_apart),
        cmocka_unit_test(rehearsals_are_read_by_how_far_apart_readings_are_now),
        cmocka_unit_test(readings_are_placed_at_any_time),
        cmocka_unit_test(a_fine_reading_needs_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
