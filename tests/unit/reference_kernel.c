/* SPDX-License-Identifier: MIT */
/* The kernel's clocks as a reference: every field against the kernel itself. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timex.h>

#include <timebase/counter.h>
#include <timebase/error.h>

#include "kernel_now.h"
#include "clock/counter/probe.h"
#include "clock/reference/reference.h"

#define SAMPLES 300
#define MS 1000000

static struct discipline_sample sample_now(struct reference_kernel *kernel)
{
    struct discipline_sample sample;
    assert_int_equal(reference_kernel.sample(kernel, &sample), TIMEBASE_OK);
    return sample;
}

static void a_sample_lies_between_the_ticks_that_bracket_it(void **state)
{
    struct reference_kernel kernel = {0};
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t first = timebase_ticks_ordered();
        int64_t before = kernel_now(CLOCK_MONOTONIC);
        struct discipline_sample sample = sample_now(&kernel);
        int64_t after = kernel_now(CLOCK_MONOTONIC);
        uint64_t last = timebase_ticks_ordered();
        assert_true(before <= sample.mono_ns && sample.mono_ns <= after);
        assert_true((int64_t)(sample.ticks_before - first) >= 0);
        assert_true((int64_t)(sample.ticks_after - sample.ticks_before) >= 0);
        assert_true((int64_t)(last - sample.ticks_after) >= 0);
    }
}

static void the_offset_of_utc_is_within_every_bracket_of_the_clocks(void **state)
{
    struct reference_kernel kernel = {0};
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        struct discipline_sample sample = sample_now(&kernel);
        int64_t before = kernel_now(CLOCK_MONOTONIC);
        int64_t utc = kernel_now(CLOCK_REALTIME);
        int64_t after = kernel_now(CLOCK_MONOTONIC);
        assert_true(utc - after <= sample.utc_offset_ns && sample.utc_offset_ns <= utc - before);
    }
}

/* Slewing moves both clocks alike; only a step changes their distance. */
static void the_offset_of_utc_is_the_same_to_the_nanosecond_each_time(void **state)
{
    struct reference_kernel kernel = {0};
    struct discipline_sample first = sample_now(&kernel);
    (void)state;
    for (int i = 0; i < SAMPLES; i++)
        assert_true(sample_now(&kernel).utc_offset_ns == first.utc_offset_ns);
}

static void time_asleep_is_boot_time_less_monotonic_time(void **state)
{
    struct reference_kernel kernel = {0};
    int64_t mono = kernel_now(CLOCK_MONOTONIC);
    int64_t boot = kernel_now(CLOCK_BOOTTIME);
    struct discipline_sample sample = sample_now(&kernel);
    int64_t boot_later = kernel_now(CLOCK_BOOTTIME);
    (void)state;
    assert_true(sample.suspended_ns >= boot - kernel_now(CLOCK_MONOTONIC));
    assert_true(sample.suspended_ns <= boot_later - mono);
}

static void the_error_is_not_less_than_the_kernel_s_own(void **state)
{
    struct reference_kernel kernel = {0};
    struct timex timex = {0};
    (void)state;
    int kernel_state = adjtimex(&timex);
    struct discipline_sample sample = sample_now(&kernel);
    assert_true(kernel_state < 0 || sample.maxerror_ns >= (int64_t)timex.maxerror * 1000);
    if (kernel_state == TIME_ERROR || (timex.status & STA_UNSYNC))
        assert_false(sample.is_synchronized);
    if (kernel_state >= 0 && kernel_state != TIME_ERROR && !(timex.status & STA_UNSYNC))
        assert_true(sample.is_synchronized);
}

static void tai_is_in_the_flags_as_the_kernel_has_it(void **state)
{
    struct reference_kernel kernel = {0};
    struct timex timex = {0};
    (void)state;
    adjtimex(&timex);
    uint32_t flags = sample_now(&kernel).flags;
    assert_int_equal((int16_t)(flags >> TIMEBASE_LINE_TAI_SHIFT), timex.tai);
    assert_int_equal(!!(flags & TIMEBASE_LINE_TAI_VALID), timex.tai != 0);
    assert_int_equal(flags & TIMEBASE_LINE_STATUS_MASK, 0);
    assert_true(flags & TIMEBASE_LINE_ESTIMATE); /* whatever it says of itself */
}

static void a_step_that_a_bracket_refutes_is_corrected(void **state)
{
    struct reference_kernel kernel = {0};
    (void)state;
    sample_now(&kernel);
    /* The counter may stand still throughout a bracket, and throughout a few. */
    do {
        kernel.step_ticks = UINT64_MAX;
    } while (sample_now(&kernel).step_ticks == UINT64_MAX);
    kernel.step_ticks = UINT64_MAX;
    struct discipline_sample sample = sample_now(&kernel);
    if (sample.ticks_after != sample.ticks_before)
        assert_in_range(sample.step_ticks, 1, sample.ticks_after - sample.ticks_before);
}

static void the_kernel_is_asked_about_itself_each_50_ms_or_after_a_step(void **state)
{
    struct reference_kernel kernel = {0};
    int64_t asked = sample_now(&kernel).mono_ns;
    struct discipline_sample next = sample_now(&kernel);
    (void)state;
    if (next.mono_ns - asked < 50 * MS)
        assert_true(kernel.asked_ns == asked);
    kernel.utc_offset_ns++;
    next = sample_now(&kernel);
    assert_true(kernel.asked_ns == next.mono_ns);
    kernel.asked_ns -= 51 * (int64_t)MS;
    next = sample_now(&kernel);
    assert_true(kernel.asked_ns == next.mono_ns);
}

static void a_moment_agrees_with_the_clocks_and_with_a_sample(void **state)
{
    struct reference_kernel kernel = {0};
    struct reference_moment moment;
    struct discipline_sample sample = sample_now(&kernel);
    (void)state;
    int64_t before = kernel_now(CLOCK_MONOTONIC);
    assert_int_equal(reference_kernel.moment(&kernel, &moment), TIMEBASE_OK);
    int64_t after = kernel_now(CLOCK_MONOTONIC);
    assert_true(before <= moment.mono_ns && moment.mono_ns <= after);
    assert_true(moment.error_ns >= 1 && moment.error_ns <= (uint64_t)(after - before) + 1);
    assert_true(moment.utc_offset_ns == sample.utc_offset_ns);
    assert_int_equal(moment.flags, sample.flags);
}

/* A step is no more than what two calls in a row can tell apart: a clock that is taken is no
 * coarser. */
static void the_step_of_the_clock_is_measured_once(void **state)
{
    struct reference_kernel kernel = {0};
    (void)state;
    struct discipline_sample sample = sample_now(&kernel);
    int64_t judged_ns = kernel.judged_ns;
    assert_true(sample.reference_step_ns >= 1 && sample.step_ticks >= 1);
    kernel.reference_step_ns = 12345;
    sample = sample_now(&kernel);
    if (kernel.judged_ns == judged_ns) /* within a second */
        assert_int_equal(sample.reference_step_ns, 12345);
}

/* The kernel may have gone over to jiffies, or come back from them. */
static void a_second_later_the_clock_is_judged_anew(void **state)
{
    struct reference_kernel kernel = {0};
    (void)state;
    sample_now(&kernel);
    kernel.reference_step_ns = 123456789;
    kernel.is_fine = -1;
    kernel.judged_ns -= 1001 * (int64_t)MS;
    assert_true(sample_now(&kernel).reference_step_ns < 123456789);
    assert_int_equal(kernel.is_fine, 1);
}

static void errno_is_left_alone(void **state)
{
    struct reference_kernel kernel = {0};
    struct reference_moment moment;
    (void)state;
    errno = 12345;
    sample_now(&kernel);
    assert_int_equal(errno, 12345);
    reference_kernel.moment(&kernel, &moment);
    assert_int_equal(errno, 12345);
}

static void the_driver_has_a_name_and_can_be_closed(void **state)
{
    struct reference_kernel kernel = {0};
    (void)state;
    assert_string_equal(reference_kernel.name, "kernel");
    reference_kernel.close(&kernel);
}

/* ---- the kernel's own verdict on its counter ------------------------------------------------- */

static char root[] = "/tmp/timebase-kernel-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[160];
    snprintf(path, sizeof(path), "%s/sys/devices/system/clocksource/clocksource0/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void make_root(void)
{
    char command[200];
    assert_non_null(mkdtemp(root));
    snprintf(command, sizeof(command), "mkdir -p %s/sys/devices/system/clocksource/clocksource0",
             root);
    assert_int_equal(system(command), 0);
    counter_set_root(root);
}

/* As where its watchdog has found the counter to run off. */
static void a_counter_that_the_kernel_threw_away_is_distrusted_for_as_long_as_it_is(void **state)
{
    struct reference_kernel kernel = {0};
    char command[80];
    (void)state;
    if (timebase_counter_id() != TIMEBASE_COUNTER_X86_TSC)
        skip();
    make_root();
    write_file("available_clocksource", "tsc hpet acpi_pm\n");
    write_file("current_clocksource", "tsc\n");
    assert_false(sample_now(&kernel).flags & TIMEBASE_LINE_COUNTER_DISTRUSTED);
    write_file("current_clocksource", "hpet\n");
    write_file("available_clocksource", "hpet acpi_pm\n");
    kernel.clocksource.looked_ns = 0;
    assert_true(sample_now(&kernel).flags & TIMEBASE_LINE_COUNTER_DISTRUSTED);
    assert_true(sample_now(&kernel).flags & TIMEBASE_LINE_COUNTER_DISTRUSTED);
    /* Also if it went to jiffies instead, and is no reference any more. */
    struct discipline_sample failed = {0};
    int error;
    do {
        kernel.is_fine = -1;
        kernel.judged_ns = kernel_now(CLOCK_MONOTONIC);
        error = reference_kernel.sample(&kernel, &failed);
    } while (kernel.is_fine > 0); /* judged again: a second has passed in between */
    assert_int_equal(error, TIMEBASE_E_REFERENCE);
    kernel.is_fine = 0;
    assert_true(failed.flags & TIMEBASE_LINE_COUNTER_DISTRUSTED);
    write_file("available_clocksource", "tsc hpet acpi_pm\n");
    write_file("current_clocksource", "tsc\n");
    kernel.clocksource.looked_ns = 0;
    assert_false(sample_now(&kernel).flags & TIMEBASE_LINE_COUNTER_DISTRUSTED);
    counter_set_root("");
    snprintf(command, sizeof(command), "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

/* Also where the C library has to be asked for it (meson.build), as 32-bit ones have. */
static void its_times_go_on_after_2038(void **state)
{
    (void)state;
    assert_int_equal(sizeof(time_t), 8);
    assert_int_equal(sizeof(((struct timespec *)NULL)->tv_sec), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_times_go_on_after_2038),
        cmocka_unit_test(a_sample_lies_between_the_ticks_that_bracket_it),
        cmocka_unit_test(the_offset_of_utc_is_within_every_bracket_of_the_clocks),
        cmocka_unit_test(the_offset_of_utc_is_the_same_to_the_nanosecond_each_time),
        cmocka_unit_test(time_asleep_is_boot_time_less_monotonic_time),
        cmocka_unit_test(the_error_is_not_less_than_the_kernel_s_own),
        cmocka_unit_test(tai_is_in_the_flags_as_the_kernel_has_it),
        cmocka_unit_test(a_step_that_a_bracket_refutes_is_corrected),
        cmocka_unit_test(the_kernel_is_asked_about_itself_each_50_ms_or_after_a_step),
        cmocka_unit_test(a_moment_agrees_with_the_clocks_and_with_a_sample),
        cmocka_unit_test(the_step_of_the_clock_is_measured_once),
        cmocka_unit_test(a_second_later_the_clock_is_judged_anew),
        cmocka_unit_test(a_counter_that_the_kernel_threw_away_is_distrusted_for_as_long_as_it_is),
        cmocka_unit_test(errno_is_left_alone),
        cmocka_unit_test(the_driver_has_a_name_and_can_be_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
