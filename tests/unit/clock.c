/* SPDX-License-Identifier: MIT */
/* The default clock against the kernel's clocks, and what may be asked of it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/timex.h>
#include <unistd.h>

#include <timebase.h>

#include "clock/own/own.h"
#include "held_lock.h"
#include "kernel_now.h"

#define MS 1000000
#define READS 2000

static const timebase_clock *the_clock(void)
{
    return timebase_clock_default();
}

/* Until the clock has lines, and these are old enough to be replaced. */
static void maintain_now(const timebase_clock *clock)
{
    uint64_t seq = timebase_clock_page(clock)->seq;
    for (int64_t start = kernel_now(CLOCK_MONOTONIC); kernel_now(CLOCK_MONOTONIC) < start + MS;)
        timebase_mono_ns(clock);
    while (timebase_clock_maintain(clock) == TIMEBASE_E_BUSY)
        assert_true(timebase_clock_page(clock)->seq >= seq);
}

static void the_default_clock_is_there_and_always_the_same(void **state)
{
    (void)state;
    assert_non_null(timebase_clock_default());
    assert_ptr_equal(timebase_clock_default(), timebase_clock_default());
    assert_ptr_equal((const void *)timebase_clock_page(the_clock()), (const void *)the_clock());
}

static void every_reading_is_where_the_kernel_s_clocks_are(void **state)
{
    (void)state;
    for (int i = 0; i < READS; i++) {
        struct timebase_instant now;
        int64_t utc_before = kernel_now(CLOCK_REALTIME), mono_before = kernel_now(CLOCK_MONOTONIC);
        timebase_now(the_clock(), &now);
        int64_t mono_after = kernel_now(CLOCK_MONOTONIC), utc_after = kernel_now(CLOCK_REALTIME);
        int64_t error = (int64_t)now.maxerror_ns;
        assert_true(mono_before - error <= now.mono_ns && now.mono_ns <= mono_after + error);
        assert_true(utc_before - error <= now.utc_ns && now.utc_ns <= utc_after + error);
    }
}

static void the_interval_holds_the_system_s_clock(void **state)
{
    (void)state;
    for (int i = 0; i < READS; i++) {
        struct timebase_interval when, truth;
        int64_t before = kernel_now(CLOCK_REALTIME);
        int status = timebase_realtime_interval(the_clock(), &when);
        int64_t after = kernel_now(CLOCK_REALTIME);
        assert_in_range(status, TIMEBASE_STATUS_INITIALIZING, TIMEBASE_STATUS_UNRELIABLE);
        assert_true(when.earliest_ns <= after && before <= when.latest_ns);
        timebase_utc_interval(the_clock(), &truth);
        assert_true(truth.earliest_ns <= kernel_now(CLOCK_REALTIME) && before <= truth.latest_ns);
    }
}

/* Lines are renewed at 1, 3, 7, ... ms and then ten times a second, by whoever reads. Half a second,
 * and three renewals: this thread may be held up for half a second. */
static void monotonic_time_never_goes_back_across_many_renewals(void **state)
{
    const uint64_t readings_max = 1000000000;
    const struct timebase_page *page = timebase_clock_page(the_clock());
    bool has_lines = timebase_counter_id() == (int)TIMEBASE_ARCH_COUNTER;
    uint64_t seq = page->seq, wanted = has_lines ? seq + 3 : seq;
    int64_t last = timebase_mono_ns(the_clock()), first = last;
    (void)state;
    for (uint64_t readings = 0; readings < readings_max &&
         (last - first < 500 * (int64_t)MS || timebase_page_word(&page->seq) < wanted);
         readings++) {
        int64_t now = timebase_mono_ns(the_clock());
        if (now < last)
            fail_msg("%lld ns back", (long long)(last - now));
        last = now;
    }
    assert_true(timebase_page_word(&page->seq) >= wanted);
}

/* Whoever may renew the lines at any moment: each change of plan must keep what was told. */
static void monotonic_time_never_goes_back_when_maintained_at_odd_moments(void **state)
{
    int64_t last = timebase_mono_ns(the_clock()), first = last;
    (void)state;
    for (unsigned i = 0; last - first < 500 * (int64_t)MS; i++) {
        if (i % 97 == 0)
            timebase_clock_maintain(the_clock());
        int64_t now = timebase_mono_ns(the_clock());
        if (now < last)
            fail_msg("%lld ns back", (long long)(last - now));
        last = now;
    }
}

static void milliseconds_are_rounded_down_before_the_epoch_too(void **state)
{
    (void)state;
    assert_true(timebase_ms_from_ns(1999999) == 1);
    assert_true(timebase_ms_from_ns(2000000) == 2);
    assert_true(timebase_ms_from_ns(-1) == -1);
    assert_true(timebase_ms_from_ns(-1000000) == -1);
    assert_true(timebase_ms_from_ns(-1000001) == -2);
    int64_t before = timebase_mono_ns(the_clock()) / MS;
    int64_t ms = timebase_mono_ms(the_clock());
    assert_true(before <= ms && ms <= timebase_mono_ns(the_clock()) / MS);
    before = timebase_utc_ns(the_clock()) / MS;
    ms = timebase_utc_ms(the_clock());
    assert_true(before <= ms && ms <= timebase_utc_ns(the_clock()) / MS);
}

static void tai_is_utc_and_what_the_kernel_knows_of_leap_seconds(void **state)
{
    struct timex timex = {0};
    struct timebase_instant now;
    (void)state;
    adjtimex(&timex);
    timebase_now(the_clock(), &now);
    uint64_t ticks = now.ticks;
    int64_t difference =
        timebase_tai_at_ns(the_clock(), ticks) - timebase_utc_at_ns(the_clock(), ticks);
    assert_true(difference == (int64_t)timex.tai * 1000000000);
    assert_int_equal(!!(now.flags & TIMEBASE_LINE_TAI_VALID), timex.tai != 0);
    int64_t utc = timebase_utc_ns(the_clock());
    int64_t tai = timebase_tai_ns(the_clock());
    int64_t later = timebase_utc_ns(the_clock());
    assert_true(utc + difference <= tai && tai <= later + difference);
    assert_true(timebase_tai_from_utc(5, (uint32_t)37 << TIMEBASE_LINE_TAI_SHIFT) == 37000000005);
    assert_true(timebase_tai_from_utc(5, (uint32_t)-2 << TIMEBASE_LINE_TAI_SHIFT) == -1999999995);
}

static void a_time_is_converted_to_its_first_tick_and_back(void **state)
{
    static const int64_t distances[] = {0, 1, -1, 12345, -50 * MS, 50 * MS, 3600000 * (int64_t)MS};
    int64_t mono = timebase_mono_ns(the_clock()), utc = timebase_utc_ns(the_clock());
    (void)state;
    for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
        int64_t target = mono + distances[i];
        uint64_t ticks = timebase_ticks_at_mono(the_clock(), target);
        assert_true(timebase_mono_at_ns(the_clock(), ticks) >= target);
        assert_true(timebase_mono_at_ns(the_clock(), ticks - 1) < target);
        target = utc + distances[i];
        ticks = timebase_ticks_at_utc(the_clock(), target);
        assert_true(timebase_utc_at_ns(the_clock(), ticks) >= target);
        assert_true(timebase_utc_at_ns(the_clock(), ticks - 1) < target);
    }
}

static void a_logged_tick_means_the_time_at_which_it_was_read(void **state)
{
    (void)state;
    for (int i = 0; i < READS; i++) {
        int64_t before = timebase_mono_ns(the_clock());
        uint64_t ticks = timebase_ticks_ordered();
        int64_t after = timebase_mono_ns(the_clock());
        struct timebase_instant then;
        timebase_at(the_clock(), ticks, &then);
        assert_true(then.ticks == ticks && then.mono_ns == timebase_mono_at_ns(the_clock(), ticks));
        assert_true(before <= then.mono_ns && then.mono_ns <= after);
        assert_true(then.utc_ns == timebase_utc_at_ns(the_clock(), ticks));
    }
}

static void maintenance_is_automatic_or_manual_and_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(timebase_clock_set_maintenance(NULL, TIMEBASE_MAINTENANCE_AUTOMATIC),
                     TIMEBASE_E_INVALID);
    assert_int_equal(timebase_clock_set_maintenance(the_clock(), 2), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_clock_set_maintenance(the_clock(), -1), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_clock_set_maintenance(the_clock(), TIMEBASE_MAINTENANCE_MANUAL), 0);
    assert_int_equal(timebase_clock_set_maintenance(the_clock(), TIMEBASE_MAINTENANCE_AUTOMATIC),
                     0);
}

static void no_clock_is_invalid(void **state)
{
    struct timebase_statistics statistics;
    (void)state;
    assert_int_equal(timebase_clock_maintain(NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_clock_restart(NULL), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_clock_statistics(NULL, &statistics), TIMEBASE_E_INVALID);
    assert_int_equal(timebase_clock_statistics(the_clock(), NULL), TIMEBASE_E_INVALID);
}

static void what_another_thread_is_at_is_busy(void **state)
{
    struct held_lock held;
    struct timebase_statistics statistics;
    (void)state;
    maintain_now(the_clock());
    held_lock_begin(&held, cell_of(the_clock()));
    int maintained = timebase_clock_maintain(the_clock());
    int restarted = timebase_clock_restart(the_clock());
    int asked = timebase_clock_statistics(the_clock(), &statistics);
    int64_t read = timebase_mono_ns(the_clock());
    held_lock_end(&held);
    assert_int_equal(maintained, TIMEBASE_E_BUSY);
    assert_int_equal(restarted, TIMEBASE_E_BUSY);
    assert_int_equal(asked, TIMEBASE_E_BUSY);
    assert_true(read > 0);
}

static void lines_just_published_are_not_replaced(void **state)
{
    struct own_clock own = OWN_CLOCK_INITIALIZER(&reference_kernel, NULL);
    struct reference_kernel kernel = {0};
    const timebase_clock *clock = own_handle(&own);
    int busy = 0;
    (void)state;
    own.reference_context = &kernel;
    for (int i = 0; i < 50 && !busy; i++) {
        maintain_now(clock);
        busy = timebase_clock_maintain(clock) == TIMEBASE_E_BUSY;
    }
    assert_true(busy);
    assert_false(guard_is_taken(&own.cell.lock));
}

static void the_statistics_count_and_measure(void **state)
{
    struct timebase_statistics before, after;
    (void)state;
    maintain_now(the_clock());
    assert_int_equal(timebase_clock_statistics(the_clock(), &before), 0);
    maintain_now(the_clock());
    assert_int_equal(timebase_clock_statistics(the_clock(), &after), 0);
    assert_true(after.samples > before.samples);
    assert_true(after.publications > before.publications);
    assert_true(after.publications <= after.samples);
    assert_int_equal(after.counter_id, timebase_counter_id());
    assert_in_range(after.status, TIMEBASE_STATUS_INITIALIZING, TIMEBASE_STATUS_UNRELIABLE);
    assert_true(after.bracket_ns > 0);
    uint64_t ticks = timebase_ticks_at_mono(the_clock(), 2000000000) -
        timebase_ticks_at_mono(the_clock(), 1000000000);
    int64_t off = (int64_t)(ticks - after.frequency_hz);
    assert_true((uint64_t)(off < 0 ? -off : off) < after.frequency_hz / 900);
    assert_true(after.frequency_error_ppb > 0);
}

/* Fresh lines, hence a fresh number; the counts go on. Last: monotonic time may step. */
static void a_restarted_clock_forgets_its_lines_and_is_right_again(void **state)
{
    struct timebase_instant now;
    (void)state;
    maintain_now(the_clock());
    assert_int_equal(timebase_clock_restart(the_clock()), 0);
    assert_true(timebase_clock_page(the_clock())->seq == 0);
    int64_t before = kernel_now(CLOCK_MONOTONIC);
    timebase_now(the_clock(), &now);
    int64_t after = kernel_now(CLOCK_MONOTONIC), error = (int64_t)now.maxerror_ns;
    assert_true(before - error <= now.mono_ns && now.mono_ns <= after + error);
    every_reading_is_where_the_kernel_s_clocks_are(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_clock_is_there_and_always_the_same),
        cmocka_unit_test(every_reading_is_where_the_kernel_s_clocks_are),
        cmocka_unit_test(the_interval_holds_the_system_s_clock),
        cmocka_unit_test(monotonic_time_never_goes_back_across_many_renewals),
        cmocka_unit_test(monotonic_time_never_goes_back_when_maintained_at_odd_moments),
        cmocka_unit_test(milliseconds_are_rounded_down_before_the_epoch_too),
        cmocka_unit_test(tai_is_utc_and_what_the_kernel_knows_of_leap_seconds),
        cmocka_unit_test(a_time_is_converted_to_its_first_tick_and_back),
        cmocka_unit_test(a_logged_tick_means_the_time_at_which_it_was_read),
        cmocka_unit_test(maintenance_is_automatic_or_manual_and_nothing_else),
        cmocka_unit_test(no_clock_is_invalid),
        cmocka_unit_test(what_another_thread_is_at_is_busy),
        cmocka_unit_test(lines_just_published_are_not_replaced),
        cmocka_unit_test(the_statistics_count_and_measure),
        cmocka_unit_test(a_restarted_clock_forgets_its_lines_and_is_right_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
