/* SPDX-License-Identifier: MIT */
/*
 * A calendar on the real machine: each release is run once, in order, not before its time, and
 * accounted for. However late this machine is: that is counted, not asserted.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "../unit/calendar_units.h"
#include "skipped.h"

#define CALLS_MAX 4096
/* What the clock at the unit's beginning and the wait's own stamp may differ by. */
#define ALLOWANCE_NS 2000

static struct timebase_waiter waiter;
static struct timebase_release entries[CALLS_MAX];
static struct timebase_release_log ring;
static struct timebase_unit_result results[4];
static const timebase_clock *the_clock;

static struct {
    int unit;
    int64_t begin_ns;
} calls[CALLS_MAX];
static uint32_t call_count;

static void note(void *argument)
{
    if (timebase_wait_rehearsing() || call_count == CALLS_MAX)
        return;
    calls[call_count].begin_ns = timebase_mono_ns(the_clock);
    calls[call_count++].unit = (int)(intptr_t)argument;
}

static int set_up(void **state)
{
    (void)state;
    the_clock = timebase_clock_default();
    memset(&ring, 0, sizeof(ring));
    ring.entries = entries;
    ring.capacity = CALLS_MAX;
    call_count = 0;
    return timebase_waiter_init(&waiter, the_clock);
}

static struct timebase_unit noting(const char *name, int index, int64_t ready_ns, int64_t period_ns)
{
    struct timebase_unit unit = unit_of(name, ready_ns, period_ns, 50 * US);
    unit.action = note;
    unit.argument = (void *)(intptr_t)index;
    return unit;
}

static int run(const struct timebase_unit *units, uint32_t count, int64_t length_ns)
{
    struct timebase_calendar calendar = calendar_of(units, count);
    calendar.length_ns = length_ns;
    calendar.log = &ring;
    return timebase_calendar_run(&calendar, &waiter, results);
}

/* The log, the results and what the units saw themselves are one story. */
static void check_story(uint32_t units)
{
    uint64_t released[4] = {0}, next[4] = {0};
    uint32_t called = 0;
    assert_int_equal(ring.lost, 0);
    for (uint32_t i = 0; i < ring.written; i++) {
        const struct timebase_release *entry = &entries[i];
        assert_int_equal(entry->number, next[entry->unit]);
        next[entry->unit] += entry->count;
        if (i > 0)
            assert_true(entry->target_ns >= entries[i - 1].target_ns);
        if (entry->outcome & TIMEBASE_RELEASE_SKIPPED)
            continue;
        released[entry->unit]++;
        assert_true(called < call_count);
        assert_int_equal(calls[called].unit, entry->unit);
        int64_t early_ns = entry->error_ns < 0 ? (int64_t)-entry->error_ns : 0;
        assert_true(calls[called].begin_ns >= entry->target_ns - early_ns - ALLOWANCE_NS);
        assert_true(entry->end_ns >= entry->target_ns - early_ns - 1);
        called++;
    }
    assert_int_equal(called, call_count);
    for (uint32_t unit = 0; unit < units; unit++) {
        assert_int_equal(results[unit].released, released[unit]);
        assert_int_equal(results[unit].released + results[unit].skipped, next[unit]);
    }
}

static void each_release_is_run_once_in_order_and_not_before_its_time(void **state)
{
    struct timebase_unit units[] = {noting("a", 0, 0, 2 * MS), noting("b", 1, MS, 4 * MS),
                                    noting("c", 2, 3 * MS, 20 * MS)};
    (void)state;
    units[1].flags = TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_PREPARE;
    units[2].flags = TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_REHEARSE;
    assert_int_equal(run(units, 3, 200 * MS), 0);
    check_story(3);
    assert_int_equal(results[0].released + results[0].skipped, 100);
    assert_int_equal(results[1].released + results[1].skipped, 50);
    assert_int_equal(results[2].released + results[2].skipped, 10);
    assert_true(call_count > 0);
}

static void units_with_time_outs_that_end_in_time_are_run_like_the_others(void **state)
{
    struct timebase_unit units[] = {noting("a", 0, 0, 2 * MS), noting("b", 1, MS, 2 * MS)};
    (void)state;
    units[0].timeout_ns = units[1].timeout_ns = 1000 * (int64_t)SEC;
    units[1].flags = TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_REHEARSE;
    assert_int_equal(run(units, 2, 100 * MS), 0);
    check_story(2);
    assert_int_equal(results[0].timed_out + results[1].timed_out, 0);
}

static void spin(void *argument)
{
    (void)argument;
    for (volatile unsigned i = 0;; i++)
        continue;
}

#define TIMEOUT_NS (500 * US)
#define DURATION_NS (100 * US)

/*
 * Its time is counted from its target. A thread that is held up between the two begins the unit
 * late, and it may be stopped before it has run for longer than it should.
 */
static void check_stopped(const struct timebase_release *entry)
{
    assert_true(entry->outcome & TIMEBASE_RELEASE_TIMED_OUT);
    assert_true(entry->end_ns - entry->target_ns >= TIMEOUT_NS - ALLOWANCE_NS);
    if (entry->error_ns < TIMEOUT_NS - DURATION_NS - ALLOWANCE_NS)
        assert_true(entry->outcome & TIMEBASE_RELEASE_OVERRUN);
}

static void a_unit_that_never_ends_is_stopped_each_time(void **state)
{
    struct timebase_unit units[] = {unit_of("endless", 0, 10 * MS, DURATION_NS),
                                    noting("good", 1, 5 * MS, 10 * MS)};
    (void)state;
    if (UNDER_THREAD_SANITIZER)
        skip_because("ThreadSanitizer delays signals until it likes");
    units[0].action = spin;
    units[0].timeout_ns = TIMEOUT_NS;
    units[0].releases = 10;
    units[1].releases = 10;
    assert_int_equal(run(units, 2, 0), 0);
    assert_int_equal(results[0].timed_out, results[0].released);
    assert_int_equal(results[0].released + results[0].skipped, 10);
    assert_int_equal(results[1].timed_out, 0);
    for (uint32_t i = 0; i < ring.written; i++)
        if (entries[i].unit == 0 && !(entries[i].outcome & TIMEBASE_RELEASE_SKIPPED))
            check_stopped(&entries[i]);
}

static void nothing_is_released_at_the_length_or_later(void **state)
{
    const struct timebase_unit units[] = {noting("a", 0, 0, MS)};
    (void)state;
    assert_int_equal(run(units, 1, 5 * MS), 0);
    assert_int_equal(results[0].released + results[0].skipped, 5);
}

static void a_start_in_the_past_runs_nothing_and_says_so(void **state)
{
    const struct timebase_unit units[] = {noting("a", 0, 0, MS)};
    struct timebase_calendar calendar = calendar_of(units, 1);
    (void)state;
    calendar.length_ns = 5 * MS;
    calendar.start_ns = timebase_mono_ns(the_clock) - 1;
    assert_int_equal(timebase_calendar_run(&calendar, &waiter, results), TIMEBASE_E_STALE);
    assert_int_equal(call_count, 0);
    assert_int_equal(results[0].released + results[0].skipped, 0);
    calendar.log = &ring;
    int result = TIMEBASE_E_STALE;
    for (int64_t lead = 100 * MS; result == TIMEBASE_E_STALE && lead < 100 * (int64_t)SEC;
         lead *= 2) {
        calendar.start_ns = timebase_mono_ns(the_clock) + lead;
        result = timebase_calendar_run(&calendar, &waiter, results);
    }
    assert_int_equal(result, 0);
    assert_int_equal(entries[0].target_ns, calendar.start_ns);
}

static void a_calendar_that_is_not_admitted_is_not_run(void **state)
{
    const struct timebase_unit units[] = {noting("a", 0, 0, MS), noting("b", 1, 0, MS)};
    (void)state;
    assert_int_equal(run(units, 2, 5 * MS), 1);
    assert_int_equal(call_count, 0);
}

static void set_errno(void *argument)
{
    (void)argument;
    errno = 4711;
}

static void errno_signals_and_mask_are_as_before(void **state)
{
    struct timebase_unit unit = unit_of("a", 40 * MS, 0, 100 * US);
    struct sigaction action;
    sigset_t before, after;
    (void)state;
    unit.action = set_errno;
    unit.timeout_ns = 1000 * (int64_t)SEC;
    unit.flags = TIMEBASE_WAIT_SLEEP;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    errno = 0;
    assert_int_equal(run(&unit, 1, 0), 0);
    assert_int_equal(errno, 4711); /* the unit's own, and nobody else's */
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int number = 1; number <= 64; number++) {
        assert_int_equal(sigismember(&before, number), sigismember(&after, number));
        if (sigaction(number, NULL, &action) == 0)
            assert_true((action.sa_flags & SA_SIGINFO) || action.sa_handler == SIG_DFL ||
                        action.sa_handler == SIG_IGN || number < SIGRTMIN);
    }
}

/* ---- two threads */

static int second_tried;

static void wait_for_the_second(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&second_tried, __ATOMIC_ACQUIRE))
        timebase_arch_relax();
}

static void *run_a_second(void *argument)
{
    static struct timebase_waiter own_waiter;
    struct timebase_unit unit = unit_of("second", 0, 0, 100 * US);
    struct timebase_calendar calendar = calendar_of(&unit, 1);
    struct timebase_unit_result result;
    int *answers = argument;
    timebase_waiter_init(&own_waiter, timebase_clock_default());
    answers[1] = timebase_calendar_run(&calendar, &own_waiter, &result);
    unit.timeout_ns = 1000 * (int64_t)SEC;
    answers[0] = timebase_calendar_run(&calendar, &own_waiter, &result);
    __atomic_store_n(&second_tried, 1, __ATOMIC_RELEASE);
    return NULL;
}

static pthread_t second;
static int answers[2];

static void start_the_second(void *argument)
{
    pthread_create(&second, NULL, run_a_second, answers);
    wait_for_the_second(argument);
}

static void a_second_thread_may_run_a_calendar_but_not_with_time_outs(void **state)
{
    struct timebase_unit unit = unit_of("first", 0, 0, 100 * US);
    (void)state;
    unit.action = start_the_second;
    unit.timeout_ns = 10000 * (int64_t)SEC;
    assert_int_equal(run(&unit, 1, 0), 0);
    pthread_join(second, NULL);
    assert_int_equal(answers[0], TIMEBASE_E_BUSY);
    assert_int_equal(answers[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_release_is_run_once_in_order_and_not_before_its_time, set_up),
        cmocka_unit_test_setup(units_with_time_outs_that_end_in_time_are_run_like_the_others,
                               set_up),
        cmocka_unit_test_setup(a_unit_that_never_ends_is_stopped_each_time, set_up),
        cmocka_unit_test_setup(nothing_is_released_at_the_length_or_later, set_up),
        cmocka_unit_test_setup(a_start_in_the_past_runs_nothing_and_says_so, set_up),
        cmocka_unit_test_setup(a_calendar_that_is_not_admitted_is_not_run, set_up),
        cmocka_unit_test_setup(errno_signals_and_mask_are_as_before, set_up),
        cmocka_unit_test_setup(a_second_thread_may_run_a_calendar_but_not_with_time_outs, set_up),
    };
    return run_all(tests);
}
