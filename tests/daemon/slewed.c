/* SPDX-License-Identifier: MIT */
/* The system clock is slewed, and the drivers' claims go on to hold, and so do lines. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/timex.h>
#include <unistd.h>

#include "slewed_world.h"

#define END_NS (9 * SECOND)
/* A line is followed from a sample on until the next lines begin. */
#define FOLLOWED_NS (280 * MS)

static struct sources sources;

struct line {
    int64_t from_ns;      /* true time of the sample */
    double off_ns;        /* of the system clock then, against UTC */
    double pace;          /* of the system clock over the last stretch, less UTC's */
    uint64_t maxerror_ns; /* of the claim */
    uint32_t ppb;         /* dispersion: the largest that the last four samples told */
};

/* The daemon's sample, and the line that goes on at the pace between it and the sample before. */
static struct line next_line(const struct line *last, uint32_t told[4], unsigned number)
{
    struct line line = {.ppb = 0};
    sources_ask_for_sample(&sources, mono_ns());
    struct discipline_sample sample = sample_of_world();
    sources_apply(&sources, &sample);
    assert_true(sample.is_synchronized);
    assert_false(sample.flags & TIMEBASE_LINE_ESTIMATE);
    told[number % 4] = sample.maxerror_ppb;
    for (unsigned i = 0; i < 4; i++)
        line.ppb = told[i] > line.ppb ? told[i] : line.ppb;
    line.from_ns = slewed.now_ns;
    line.off_ns = (double)theta_ns();
    line.maxerror_ns = (uint64_t)sample.maxerror_ns;
    if (last->from_ns > 0)
        line.pace = (line.off_ns - last->off_ns) / (double)(line.from_ns - last->from_ns);
    return line;
}

static void assert_line_holds(const struct line *line, int64_t at_ns)
{
    double age_ns = (double)(at_ns - line->from_ns);
    double off_ns = line->off_ns + line->pace * age_ns;
    double bound_ns = (double)line->maxerror_ns + age_ns * ((double)line->ppb + 50000) * 1e-9;
    if (off_ns > bound_ns || -off_ns > bound_ns)
        fail_msg("%s at %.0f ppm: %.0f ns after the sample at %.6f s off by %.0f ns, bound %.0f",
                 sources.list[0].name, slewed.slew_ppm, age_ns, (double)line->from_ns / 1e9, off_ns,
                 bound_ns);
}

static void slew_at(const struct source_driver *driver, double ppm)
{
    struct line line = {.ppb = 0};
    uint32_t told[4] = {0};
    slewed.now_ns = SECOND;
    slewed.slew_ppm = ppm;
    /* Begins and ends anywhere between two samples. */
    slewed.off_ns = (int64_t)(ppm * 1e-6 * 1.37e9);
    slewed.slew_from_ns = 4 * SECOND + 113 * MS;
    begin_slewed(&sources, driver);
    for (unsigned number = 0; slewed.now_ns < END_NS; number++) {
        line = next_line(&line, told, number);
        if (number > 0)
            assert_line_holds(&line, line.from_ns);
        if (number > 0)
            assert_line_holds(&line, line.from_ns + FOLLOWED_NS);
        slewed.now_ns = line.from_ns + 250 * MS;
    }
    sources_close(&sources);
}

static void slew_all(double ppm)
{
    for (size_t i = 0; i < sizeof(world_drivers) / sizeof(world_drivers[0]); i++) {
        slewed.is_silent = false;
        slewed.is_adjtime = ppm <= 500;
        slew_at(&world_drivers[i], ppm);
        slewed.is_silent = true;
        slew_at(&world_drivers[i], ppm);
    }
}

static void a_clock_slewed_as_adjtime_does_stays_within_its_bound(void **state)
{
    (void)state;
    slew_all(500);
}

static void a_clock_slewed_faster_than_is_assumed_stays_within_its_bound(void **state)
{
    (void)state;
    slew_all(5000);
}

static void a_clock_slewed_as_fast_as_chronyd_does_stays_within_its_bound(void **state)
{
    (void)state;
    slew_all(83333);
}

/* Else the test above would pass with any bound that is wide enough. */
static void a_clock_that_nobody_slews_costs_next_to_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(world_drivers) / sizeof(world_drivers[0]); i++) {
        struct line line = {.ppb = 0};
        uint32_t told[4] = {0};
        slewed = (struct slewed_world){.now_ns = SECOND, .slew_from_ns = INT64_MAX};
        begin_slewed(&sources, &world_drivers[i]);
        for (unsigned number = 0; number < 8; number++) {
            line = next_line(&line, told, number);
            slewed.now_ns = line.from_ns + 250 * MS;
        }
        assert_true(line.ppb < 10000); /* 10 ppm: readings of 400 ns, twice, in 250 ms */
        assert_true(line.maxerror_ns < 5000);
        sources_close(&sources);
    }
}

static void the_first_answer_is_followed_by_what_may_be(void **state)
{
    struct line line = {.ppb = 0};
    uint32_t told[4] = {0};
    (void)state;
    slewed = (struct slewed_world){.now_ns = SECOND, .slew_from_ns = INT64_MAX};
    begin_slewed(&sources, &world_drivers[0]);
    line = next_line(&line, told, 0);
    assert_true(line.ppb >= 500000);
    sources_close(&sources);
    slewed.is_silent = true; /* then whatever adjtimex could do */
    begin_slewed(&sources, &world_drivers[0]);
    line = next_line(&line, told, 0);
    assert_true(line.ppb >= 100000000);
    sources_close(&sources);
}

/* Between the answer and the sample. */
static void a_claim_ages_by_what_the_kernel_tells_and_500_ppm_at_least(void **state)
{
    struct claim claim = {.is_slewed_by_others = true, .slew_ppb = 5500000};
    int64_t low_ns, high_ns;
    (void)state;
    claim_ends(&claim, MS, 0, &low_ns, &high_ns);
    assert_true(low_ns == -5500 && high_ns == 5500);
    claim.slew_ppb = 0;
    claim_ends(&claim, MS, 0, &low_ns, &high_ns);
    assert_true(low_ns == -500 && high_ns == 500);
}

/* ---- what adjtimex says -------------------------------------------------------------------- */

static struct timex quiet_timex(void)
{
    return (struct timex){.tick = 1000000 / sysconf(_SC_CLK_TCK), .status = STA_NANO};
}

static void frequency_and_tick_are_the_rate(void **state)
{
    struct timex timex = quiet_timex();
    (void)state;
    struct slew slew = slew_of(&timex, 0);
    assert_true(slew.is_known && slew.rate_ppb == 0 && slew.most_ppb == 500000);
    timex.freq = -20 * 65536; /* ppm */
    slew = slew_of(&timex, 0);
    assert_true(slew.rate_ppb == -20000);
    assert_true(slew.most_ppb == 500000); /* any oscillator's correction is within A4 */
    timex.freq = 0;
    timex.tick += timex.tick / 100;
    slew = slew_of(&timex, 0);
    assert_true(slew.rate_ppb == 10000000);
    assert_true(slew.most_ppb == 10500000);
}

static void a_phase_that_is_pending_counts_by_its_constant(void **state)
{
    struct timex timex = quiet_timex();
    (void)state;
    timex.offset = -3000000; /* ns; a quarter of what was there is gone this second */
    struct slew slew = slew_of(&timex, 0);
    assert_true(slew.rate_ppb == -1000000);
    assert_true(slew.most_ppb == 1500000);
    timex.constant = 10;
    assert_true(slew_of(&timex, 0).rate_ppb == -733);
    timex.status &= ~STA_NANO;
    timex.offset = -3000;
    assert_true(slew_of(&timex, 0).rate_ppb == -733);
    timex.constant = 1000; /* no shift is that wide */
    assert_true(slew_of(&timex, 0).rate_ppb == -733);
}

/* Linux goes on with what was pending when somebody cleared STA_PLL (ntp_offset_chunk). */
static void a_phase_is_worked_off_without_the_loop_that_set_it(void **state)
{
    struct timex timex = quiet_timex();
    (void)state;
    timex.offset = 375000000; /* ns; the most that can be left: half a second less a quarter */
    assert_true(slew_of(&timex, 0).rate_ppb == 125000000);
    assert_true(slew_of(&timex, 0).most_ppb == 125500000);
    timex.constant = 6; /* ntpd's */
    assert_true(slew_of(&timex, 0).rate_ppb == 1470589);
    timex.status |= STA_PLL;
    assert_true(slew_of(&timex, 0).rate_ppb == 1470589);
}

/* (u32)-3000000 / 1000: as Linux tells -3 ms in microseconds. */
static void a_phase_told_without_its_sign_is_negative(void **state)
{
    struct timex timex = quiet_timex();
    (void)state;
    timex.status &= ~STA_NANO;
    timex.offset = 4291967;
    assert_true(slew_pending_ns(&timex) <= -3000000 && slew_pending_ns(&timex) > -3001000);
    timex.offset = 500000;
    assert_true(slew_pending_ns(&timex) == 500000000);
    timex.offset = -3000;
    assert_true(slew_pending_ns(&timex) == -3000000);
}

static void what_is_left_of_adjtime_is_500_ppm(void **state)
{
    struct timex timex = quiet_timex();
    (void)state;
    assert_true(slew_of(&timex, 1).rate_ppb == 500000);
    assert_true(slew_of(&timex, -700).rate_ppb == -500000);
    assert_true(slew_of(&timex, -700).most_ppb == 500000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_slewed_as_adjtime_does_stays_within_its_bound),
        cmocka_unit_test(a_clock_slewed_faster_than_is_assumed_stays_within_its_bound),
        cmocka_unit_test(a_clock_slewed_as_fast_as_chronyd_does_stays_within_its_bound),
        cmocka_unit_test(a_clock_that_nobody_slews_costs_next_to_nothing),
        cmocka_unit_test(a_claim_ages_by_what_the_kernel_tells_and_500_ppm_at_least),
        cmocka_unit_test(frequency_and_tick_are_the_rate),
        cmocka_unit_test(a_phase_that_is_pending_counts_by_its_constant),
        cmocka_unit_test(a_phase_is_worked_off_without_the_loop_that_set_it),
        cmocka_unit_test(a_phase_told_without_its_sign_is_negative),
        cmocka_unit_test(what_is_left_of_adjtime_is_500_ppm),
        cmocka_unit_test(the_first_answer_is_followed_by_what_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
