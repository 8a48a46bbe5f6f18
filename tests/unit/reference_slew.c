/* SPDX-License-Identifier: MIT */
/* A sample says how far the kernel's pace may change, and leave UTC's, by the test's adjtimex. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/timex.h>
#include <unistd.h>

#include <timebase/error.h>

#include "clock/reference/reference.h"

#define MS INT64_C(1000000)

static struct timex told;
static int state_told;
static unsigned asked;

int adjtimex(struct timex *timex)
{
    asked++;
    if (state_told < 0)
        errno = EPERM;
    else
        *timex = told;
    return state_told;
}

static int begin(void **state)
{
    (void)state;
    told = (struct timex){
        .tick = 1000000 / sysconf(_SC_CLK_TCK), .status = STA_PLL | STA_NANO, .maxerror = 1000};
    state_told = TIME_OK;
    asked = 0;
    return 0;
}

static struct discipline_sample sample_of(struct reference_kernel *kernel)
{
    struct discipline_sample sample = {0};
    assert_int_equal(reference_kernel.sample(kernel, &sample), TIMEBASE_OK);
    return sample;
}

static void expect(uint32_t limit_ppm, uint32_t growth_ppb)
{
    struct reference_kernel kernel = {0};
    struct discipline_sample sample = sample_of(&kernel);
    assert_int_equal(sample.slew_limit_ppm, limit_ppm);
    assert_int_equal(sample.maxerror_ppb, growth_ppb);
}

static void a_clock_that_nobody_slews_may_change_by_500_ppm(void **state)
{
    (void)state;
    expect(500, 500000);
    told.freq = -300L * 65536; /* the oscillator's correction, in force for years */
    expect(500, 500000);
}

static void a_changed_tick_may_be_changed_back(void **state)
{
    (void)state;
    told.tick += told.tick / 100;
    expect(10500, 10500000);
    told.tick -= 2 * (told.tick / 101);
    expect(10500, 10500000);
}

static void a_pending_phase_ends_by_itself(void **state)
{
    (void)state;
    told.offset = 3000; /* ns: a third of it a second */
    expect(501, 501000);
    told.offset = -3000000;
    expect(1500, 1500000);
    told.status = STA_NANO; /* also where no loop would begin it */
    expect(1500, 1500000);
}

static void where_nobody_tells_500_ppm_are_assumed(void **state)
{
    (void)state;
    state_told = -1;
    expect(0, 500000);
}

/* By a kernel that tells microseconds, as an unsigned number. */
static void a_negative_phase_makes_no_claim_of_seconds(void **state)
{
    struct reference_kernel kernel = {0};
    (void)state;
    told.status = STA_PLL;
    told.offset = 4291967; /* -3 ms */
    assert_true(sample_of(&kernel).maxerror_ns < 10 * MS);
    expect(1501, 1500099);
}

/* Told, and no longer told: by the next sample that is 50 ms later, and by none before that. */
static void a_slew_is_heard_of_within_50_ms(void **state)
{
    struct reference_kernel kernel = {0};
    (void)state;
    assert_int_equal(sample_of(&kernel).slew_limit_ppm, 500);
    told.tick += told.tick / 10;
    uint32_t soon_ppm = sample_of(&kernel).slew_limit_ppm;
    assert_int_equal(soon_ppm, asked == 1 ? 500 : 100500); /* asked: this thread was held up */
    asked = 1;
    kernel.asked_ns -= 51 * MS;
    assert_int_equal(sample_of(&kernel).slew_limit_ppm, 100500);
    told.tick = 1000000 / sysconf(_SC_CLK_TCK);
    kernel.asked_ns -= 51 * MS;
    assert_int_equal(sample_of(&kernel).slew_limit_ppm, 500);
    assert_int_equal(asked, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_clock_that_nobody_slews_may_change_by_500_ppm, begin),
        cmocka_unit_test_setup(a_changed_tick_may_be_changed_back, begin),
        cmocka_unit_test_setup(a_pending_phase_ends_by_itself, begin),
        cmocka_unit_test_setup(a_negative_phase_makes_no_claim_of_seconds, begin),
        cmocka_unit_test_setup(where_nobody_tells_500_ppm_are_assumed, begin),
        cmocka_unit_test_setup(a_slew_is_heard_of_within_50_ms, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
