/* SPDX-License-Identifier: MIT */
/* Who would tell that this guest was stopped, and what is said where nobody would. */
#include "cmocka_first.h"

#include "daemon/witness_verdict.h"

#define SECOND INT64_C(1000000000)

static enum witness_verdict verdict(int is_guest, unsigned kinds, bool never_moved)
{
    const struct witness_facts facts = {is_guest, kinds, never_moved};
    return witness_verdict(&facts);
}

static void a_machine_of_its_own_needs_no_witness(void **state)
{
    (void)state;
    assert_int_equal(verdict(0, 0, false), WITNESS_NOT_NEEDED);
    assert_int_equal(verdict(-1, 0, false), WITNESS_NOT_NEEDED);
    assert_int_equal(verdict(0, 0, true), WITNESS_NOT_NEEDED);
}

static void any_witness_of_a_guest_will_do(void **state)
{
    (void)state;
    assert_int_equal(verdict(1, WITNESS_KERNEL, false), WITNESS_PRESENT);
    assert_int_equal(verdict(1, WITNESS_SOURCE, false), WITNESS_PRESENT);
    assert_int_equal(verdict(1, WITNESS_MARKER, false), WITNESS_PRESENT);
    assert_int_equal(verdict(1, WITNESS_RTC, false), WITNESS_PRESENT);
    /* What the administrator says is not needed then, nor told. */
    assert_int_equal(verdict(1, WITNESS_SOURCE, true), WITNESS_PRESENT);
}

static void a_guest_without_one_is_told_no_utc(void **state)
{
    struct discipline_sample sample = {.is_synchronized = true};
    (void)state;
    assert_int_equal(verdict(1, 0, false), WITNESS_MISSING);
    witness_apply(WITNESS_PRESENT, &sample);
    witness_apply(WITNESS_NOT_NEEDED, &sample);
    assert_true(sample.is_synchronized);
    assert_int_equal(sample.flags, 0);
    witness_apply(WITNESS_MISSING, &sample);
    assert_false(sample.is_synchronized);
}

static void an_administrator_s_word_is_in_every_line(void **state)
{
    struct discipline_sample sample = {.is_synchronized = true, .flags = TIMEBASE_LINE_ESTIMATE};
    (void)state;
    assert_int_equal(verdict(1, 0, true), WITNESS_NEVER_NEEDED);
    witness_apply(WITNESS_NEVER_NEEDED, &sample);
    assert_true(sample.is_synchronized);
    assert_int_equal(sample.flags, TIMEBASE_LINE_ESTIMATE | TIMEBASE_LINE_NEVER_MOVED);
}

static void a_source_is_a_witness_while_it_answers(void **state)
{
    const struct source_driver driver = {.name = "x", .is_witness = true}, other = {.name = "y"};
    static struct sources sources;
    (void)state;
    sources.count = 2;
    sources.list[0] = (struct source){.driver = &other,
                                      .has_claim = true,
                                      .claim.is_synchronized = true,
                                      .answered_ns = 100 * SECOND};
    assert_int_equal(witness_of_sources(&sources, 100 * SECOND), 0); /* the kernel itself */
    sources.list[1] = sources.list[0];
    sources.list[1].driver = &driver;
    assert_int_equal(witness_of_sources(&sources, 100 * SECOND), WITNESS_SOURCE);
    assert_int_equal(witness_of_sources(&sources, 111 * SECOND), 0); /* lost */
    /* chronyd answers, and has heard nothing of its servers. */
    sources.list[1].answered_ns = 4000 * SECOND;
    sources.list[1].measured_ns = 4000 * SECOND - 2049 * SECOND * 9 / 8;
    assert_int_equal(witness_of_sources(&sources, 4000 * SECOND), WITNESS_SOURCE);
    sources.list[1].measured_ns = 4000 * SECOND - 2401 * SECOND;
    assert_int_equal(witness_of_sources(&sources, 4000 * SECOND), 0);
    sources.list[1].measured_ns = INT64_MIN;
    assert_int_equal(witness_of_sources(&sources, 4000 * SECOND), 0);
    /* After a move it is believed when it has measured again, and is a witness all the while. */
    sources.list[1].measured_ns = 3990 * SECOND;
    sources.list[1].has_claim = false;
    assert_int_equal(witness_of_sources(&sources, 4000 * SECOND), WITNESS_SOURCE);
    sources.list[1].claim.is_synchronized = false;
    assert_int_equal(witness_of_sources(&sources, 100 * SECOND), 0);
    sources.list[1].has_marker = true;
    assert_int_equal(witness_of_sources(&sources, 4010 * SECOND), WITNESS_MARKER);
    assert_int_equal(witness_of_sources(&sources, 4011 * SECOND), 0);
}

static void a_kernel_on_another_clock_than_the_counter_is_a_witness(void **state)
{
    (void)state;
    assert_int_equal(witness_of_clocksource("tsc"), 0);
    assert_int_equal(witness_of_clocksource("arch_sys_counter"), 0);
    assert_int_equal(witness_of_clocksource(""), 0);
    assert_int_equal(witness_of_clocksource("kvm-clock"), WITNESS_KERNEL);
    assert_int_equal(witness_of_clocksource("hpet"), WITNESS_KERNEL);
}

static void a_battery_clock_tells_of_two_seconds(void **state)
{
    struct witness_rtc rtc = {.is_read = false};
    int64_t mono_ns = 50 * SECOND;
    (void)state;
    assert_false(witness_rtc_parted(&rtc, 1000, mono_ns));
    /* Whole seconds: a look may be right before or right after one of its ticks. */
    assert_false(witness_rtc_parted(&rtc, 1005, mono_ns += 4 * SECOND));
    assert_false(witness_rtc_parted(&rtc, 1008, mono_ns += 4 * SECOND));
    /* The guest stood still for 3 s. */
    assert_true(witness_rtc_parted(&rtc, 1015, mono_ns += 4 * SECOND));
    assert_false(witness_rtc_parted(&rtc, 1019, mono_ns += 4 * SECOND));
    /* A guest restored from long ago. */
    assert_true(witness_rtc_parted(&rtc, 901019, mono_ns += 4 * SECOND));
    /* A day between two looks: its crystal may be off by 0.1 % of it. */
    assert_false(witness_rtc_parted(&rtc, 901019 + 86400 + 80, mono_ns += 86400 * SECOND));
    assert_true(witness_rtc_parted(&rtc, INT64_MIN, mono_ns += SECOND));
    assert_true(witness_rtc_parted(&rtc, INT64_MAX, mono_ns += SECOND));
}

/* It shows whole seconds, so the documents promise nothing of them. */
static void a_battery_clock_tells_of_no_shorter_stops(void **state)
{
    struct witness_rtc rtc = {.is_read = false};
    int64_t mono_ns = 50 * SECOND, rtc_ns = 1000 * SECOND;
    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_false(witness_rtc_parted(&rtc, rtc_ns / SECOND, mono_ns));
        mono_ns += 4 * SECOND;
        rtc_ns += 4 * SECOND + SECOND - SECOND / 100;
    }
}

static void witnesses_are_named(void **state)
{
    char text[64];
    (void)state;
    assert_string_equal(witness_names(0, text, sizeof(text)), "none");
    assert_string_equal(witness_names(WITNESS_SOURCE | WITNESS_RTC, text, sizeof(text)),
                        "source, rtc");
    assert_string_equal(witness_names(15, text, sizeof(text)), "kernel, source, marker, rtc");
    assert_string_equal(witness_names(15, text, 12), "kernel, rtc"); /* what fits */
}

/* ---- the time before the daemon -------------------------------------------------------------- */

static bool is_known(int is_guest, unsigned kinds, bool never_moved, struct witness_past past)
{
    const struct witness_facts facts = {is_guest, kinds, never_moved};
    return witness_past_is_known(&facts, &past);
}

static void a_guest_that_may_have_been_moved_before_does_not_know_it(void **state)
{
    const struct witness_past first = {.has_page = false};
    const struct witness_past next = {
        .has_page = true, .is_taken_up = true, .was_synchronized = true};
    (void)state;
    assert_true(is_known(0, 0, false, first));
    assert_true(is_known(-1, 0, false, next));
    assert_true(is_known(1, WITNESS_KERNEL, false, next));
    assert_true(is_known(1, 0, true, next));
    assert_false(is_known(1, 0, false, first));
    assert_false(is_known(1, 0, false, next));
    assert_false(is_known(1, WITNESS_SOURCE | WITNESS_MARKER | WITNESS_RTC, false, next));
}

static void what_the_page_shows_of_the_time_before_counts(void **state)
{
    struct witness_past past = {.has_page = true, .is_taken_up = true, .was_synchronized = true};
    (void)state;
    assert_true(is_known(0, 0, false, past));
    past.has_slept = true;
    assert_false(is_known(0, 0, false, past));
    past = (struct witness_past){.has_page = true, .is_taken_up = true};
    assert_false(is_known(0, 0, false, past)); /* no promise was made: not without a reason */
    past = (struct witness_past){.has_page = true, .was_synchronized = true};
    assert_false(is_known(0, 0, false, past)); /* counter and clock have parted */
    past = (struct witness_past){
        .has_page = true, .is_taken_up = true, .was_synchronized = true, .was_disrupted = true};
    assert_false(is_known(0, 0, false, past)); /* not each source may have measured since */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guest_that_may_have_been_moved_before_does_not_know_it),
        cmocka_unit_test(what_the_page_shows_of_the_time_before_counts),
        cmocka_unit_test(a_machine_of_its_own_needs_no_witness),
        cmocka_unit_test(any_witness_of_a_guest_will_do),
        cmocka_unit_test(a_guest_without_one_is_told_no_utc),
        cmocka_unit_test(an_administrator_s_word_is_in_every_line),
        cmocka_unit_test(a_source_is_a_witness_while_it_answers),
        cmocka_unit_test(a_kernel_on_another_clock_than_the_counter_is_a_witness),
        cmocka_unit_test(a_battery_clock_tells_of_two_seconds),
        cmocka_unit_test(a_battery_clock_tells_of_no_shorter_stops),
        cmocka_unit_test(witnesses_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
