/* SPDX-License-Identifier: MIT */
/* The kernel's clocks by the counters of a machine whose CPUs disagree, stop and are set. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "clock/counter/by_cpu_here.h"
#include "dice.h"
#include "preload/followed.h"
#include "preload/next.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define TICK_NS (4 * MS)

enum { CPUS = 4, READINGS = 20000 };

/* ---- the machine: time passes only here --------------------------------------------------------- */

static struct {
    struct dice dice;
    uint64_t now_ns;
    uint64_t read_ns;        /* what a reading of the kernel's clock takes; one of a coarse clock: 5 */
    int64_t realtime_ns;     /* CLOCK_REALTIME - CLOCK_MONOTONIC */
    int64_t stopped_ns[CPUS]; /* so long this CPU's counter stood still */
    int64_t offset_ticks[CPUS];
    unsigned cpu, first_cpu; /* each test has CPUs of its own: nothing is known of them yet */
    unsigned kernel_reads;
    unsigned held_up_of_8; /* so many of 8 readings take 1,000 ns more: the host has other work */
    uint64_t step_ticks; /* of the counter; 0: it has none */
    int refuses;
    void (*held_up)(void); /* a thread is, once it has read its counter or the kernel's clock */
    bool in_kernel;
} machine;

static void hold_up(bool in_kernel)
{
    void (*held_up)(void) = machine.held_up;
    if (held_up == NULL || machine.in_kernel != in_kernel)
        return;
    machine.held_up = NULL;
    held_up();
}

static uint64_t passed(uint64_t ns)
{
    return machine.now_ns += ns;
}

uint64_t by_cpu_here(unsigned *cpu)
{
    *cpu = machine.first_cpu + machine.cpu;
    uint64_t ns = passed(5) - (uint64_t)machine.stopped_ns[machine.cpu];
    uint64_t ticks = ns * 3 + (uint64_t)machine.offset_ticks[machine.cpu];
    hold_up(false);
    return machine.step_ticks == 0 ? ticks : ticks - ticks % machine.step_ticks;
}

int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void)
{
    return (int)(machine.first_cpu + machine.cpu);
}

static uint64_t shown(clockid_t id, uint64_t now_ns)
{
    return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE
        ? now_ns + (uint64_t)machine.realtime_ns
        : now_ns;
}

static void fill(struct timespec *out, uint64_t ns)
{
    out->tv_sec = (time_t)(ns / SECOND);
    out->tv_nsec = (long)(ns % SECOND);
}

static int read_coarse(clockid_t id, struct timespec *out)
{
    uint64_t now_ns = passed(5);
    fill(out, shown(id, now_ns - now_ns % TICK_NS));
    return 0;
}

static int read_kernel(clockid_t id, struct timespec *out)
{
    if (machine.refuses) {
        errno = EPERM;
        return -1;
    }
    uint64_t width = machine.kernel_reads++ % 8 < machine.held_up_of_8 ? 1000 : 0;
    width += machine.read_ns / 2 + dice_below(&machine.dice, machine.read_ns / 2 + 1);
    fill(out, shown(id, passed(width / 2)));
    passed(width / 2);
    hold_up(true);
    return 0;
}

static int begin(void **state)
{
    unsigned first_cpu = machine.first_cpu + CPUS;
    uint64_t now_ns = machine.now_ns;
    (void)state;
    memset(&machine, 0, sizeof(machine));
    machine.dice = dice_new();
    machine.first_cpu = first_cpu;
    machine.now_ns = now_ns + 3600 * SECOND;
    machine.realtime_ns = (int64_t)(1000000 * SECOND);
    machine.read_ns = 1000;
    followed_drawn_sec = 0;
    next.gettime = read_kernel;
    next_vdso = read_coarse;
    followed_begin("always");
    return 0;
}

static uint64_t reading(enum followed which)
{
    uint64_t ns;
    assert_true(followed_read(which, &ns));
    return ns;
}

/* A few ms of use of the CPU that the thread is on. */
static void warm_up(enum followed which)
{
    for (int i = 0; i < 4000; i++) {
        reading(which);
        passed(5000);
    }
}

/* By the doubt of a bracket, of the pace, and the leads; docs/decisions/0018-exec.md. */
#define AHEAD_NS (3 * 1100 + 1100 + 100)

static void assert_near(enum followed which, clockid_t id)
{
    uint64_t before_ns = shown(id, machine.now_ns);
    uint64_t ns = reading(which);
    assert_true(ns >= before_ns);
    assert_true(ns <= shown(id, machine.now_ns) + AHEAD_NS);
}

static struct followed_counts counts(void)
{
    struct followed_counts found;
    followed_counts(&found);
    return found;
}

/* ---- what must hold ------------------------------------------------------------------------------ */

static void readings_are_never_behind_nor_go_back_from_cpu_to_cpu(void **state)
{
    uint64_t last_ns = 0;
    (void)state;
    machine.offset_ticks[1] = INT64_C(5000000000);
    machine.offset_ticks[2] = -700;
    machine.offset_ticks[3] = INT64_MIN / 2;
    for (int i = 0; i < READINGS; i++) {
        machine.cpu = (unsigned)dice_below(&machine.dice, CPUS);
        assert_near(FOLLOWED_MONOTONIC, CLOCK_MONOTONIC);
        uint64_t ns = reading(FOLLOWED_MONOTONIC);
        assert_true(ns >= last_ns);
        last_ns = ns;
        passed(dice_below(&machine.dice, 5000));
    }
    assert_true(machine.kernel_reads < READINGS / 2);
}

static void the_kernel_is_asked_once_a_window(void **state)
{
    (void)state;
    warm_up(FOLLOWED_MONOTONIC);
    unsigned before = machine.kernel_reads;
    uint64_t end_ns = machine.now_ns + 100 * MS;
    while (machine.now_ns < end_ns)
        reading(FOLLOWED_MONOTONIC);
    assert_in_range(machine.kernel_reads - before, 90, 330);
}

static void after_any_sleep_a_reading_is_not_before_its_end(void **state)
{
    (void)state;
    warm_up(FOLLOWED_MONOTONIC);
    for (int i = 0; i < READINGS; i++) {
        uint64_t end_ns = machine.now_ns + (dice_roll(&machine.dice) >> (30 + dice_below(&machine.dice, 30)));
        machine.now_ns = end_ns;
        assert_true(reading(FOLLOWED_MONOTONIC) >= end_ns);
    }
}

static void a_counter_that_stopped_for_long_is_seen_at_once(void **state)
{
    (void)state;
    warm_up(FOLLOWED_MONOTONIC);
    uint64_t lost = counts().lost;
    machine.stopped_ns[0] += (int64_t)(5 * SECOND);
    passed(5 * SECOND);
    assert_near(FOLLOWED_MONOTONIC, CLOCK_MONOTONIC);
    assert_true(counts().lost == lost + 1);
    /* This CPU is read from the kernel now. */
    unsigned before = machine.kernel_reads;
    for (int i = 0; i < 100; i++)
        reading(FOLLOWED_MONOTONIC);
    assert_int_equal(machine.kernel_reads - before, 100);
}

static void a_short_stop_costs_a_tick_at_most_and_is_not_repeated(void **state)
{
    unsigned behind = 0;
    (void)state;
    warm_up(FOLLOWED_MONOTONIC);
    for (int i = 0; i < 1000; i++) {
        machine.stopped_ns[0] += 500000;
        passed(500000);
        uint64_t before_ns = machine.now_ns, ns = reading(FOLLOWED_MONOTONIC);
        behind += ns < before_ns;
        assert_true(ns + TICK_NS >= before_ns);
        passed(20000);
    }
    assert_true(behind <= 10);
}

static void other_cpus_go_on_by_their_counters(void **state)
{
    (void)state;
    machine.cpu = 1;
    warm_up(FOLLOWED_MONOTONIC);
    machine.cpu = 0;
    warm_up(FOLLOWED_MONOTONIC);
    machine.stopped_ns[0] += (int64_t)SECOND;
    passed(SECOND);
    reading(FOLLOWED_MONOTONIC);
    machine.cpu = 1;
    warm_up(FOLLOWED_MONOTONIC);
    unsigned before = machine.kernel_reads;
    for (int i = 0; i < 100; i++)
        reading(FOLLOWED_MONOTONIC);
    assert_true(machine.kernel_reads - before < 20);
}

static void a_step_forward_is_seen_at_once(void **state)
{
    (void)state;
    warm_up(FOLLOWED_REALTIME);
    machine.realtime_ns += (int64_t)SECOND;
    assert_near(FOLLOWED_REALTIME, CLOCK_REALTIME);
    uint64_t until_ns = machine.now_ns + 2 * SECOND;
    machine.now_ns = until_ns;
    warm_up(FOLLOWED_REALTIME);
    assert_near(FOLLOWED_REALTIME, CLOCK_REALTIME);
}

static void a_step_back_is_seen_at_once_if_large_and_in_a_window_if_small(void **state)
{
    uint64_t steps = counts().steps;
    (void)state;
    warm_up(FOLLOWED_REALTIME);
    machine.realtime_ns -= (int64_t)SECOND;
    assert_near(FOLLOWED_REALTIME, CLOCK_REALTIME);
    warm_up(FOLLOWED_REALTIME);
    machine.realtime_ns -= (int64_t)(20 * MS);
    passed(MS + 100000);
    assert_near(FOLLOWED_REALTIME, CLOCK_REALTIME);
    assert_true(counts().steps == steps + 2);
}

static void a_step_counts_for_lines_of_all_cpus(void **state)
{
    (void)state;
    warm_up(FOLLOWED_REALTIME);
    machine.cpu = 1;
    warm_up(FOLLOWED_REALTIME);
    unsigned before = machine.kernel_reads;
    while (machine.kernel_reads == before) /* its line is new then */
        reading(FOLLOWED_REALTIME);
    machine.realtime_ns -= (int64_t)(20 * MS);
    machine.cpu = 0; /* its own is too old, so the step is seen */
    assert_near(FOLLOWED_REALTIME, CLOCK_REALTIME);
    machine.cpu = 1;
    assert_near(FOLLOWED_REALTIME, CLOCK_REALTIME);
}

/* ---- threads that are held up ------------------------------------------------------------------- */

static uint64_t told_ns;

/* For longer than a step; meanwhile another CPU tells the time, by a line that is ahead of the kernel. */
static void others_read_meanwhile(void)
{
    unsigned cpu = machine.cpu;
    passed(20 * MS);
    machine.cpu = 1;
    warm_up(FOLLOWED_MONOTONIC);
    told_ns = reading(FOLLOWED_MONOTONIC);
    machine.cpu = cpu;
}

static void expect_nothing_goes_back_beside_a_thread_held_up(bool in_kernel)
{
    warm_up(FOLLOWED_MONOTONIC);
    uint64_t steps = counts().steps;
    machine.held_up = others_read_meanwhile;
    machine.in_kernel = in_kernel;
    if (in_kernel)
        passed(2 * MS); /* its line is too old */
    reading(FOLLOWED_MONOTONIC);
    assert_true(machine.held_up == NULL);
    machine.cpu = 3; /* has no line: the kernel is asked */
    assert_true(reading(FOLLOWED_MONOTONIC) >= told_ns);
    assert_true(counts().steps == steps);
}

static void what_a_thread_tells_late_is_no_step(void **state)
{
    (void)state;
    expect_nothing_goes_back_beside_a_thread_held_up(false);
}

static void nor_is_what_it_asked_the_kernel_for(void **state)
{
    (void)state;
    expect_nothing_goes_back_beside_a_thread_held_up(true);
}

/* ---- whether ------------------------------------------------------------------------------------ */

static void a_kernel_that_is_cheap_is_asked(void **state)
{
    uint64_t ns;
    (void)state;
    machine.read_ns = 20;
    followed_begin("auto");
    if (followed_mode() == FOLLOWED_NEVER)
        skip(); /* this processor promises nothing of its counter */
    for (int i = 0; i < 100; i++) {
        uint64_t before_ns = machine.now_ns;
        if (followed_read(FOLLOWED_RAW, &ns))
            assert_in_range(ns, before_ns, machine.now_ns);
    }
    unsigned before = machine.kernel_reads;
    for (int i = 0; i < 1000; i++)
        if (followed_read(FOLLOWED_RAW, &ns))
            assert_true(ns <= machine.now_ns + AHEAD_NS);
    assert_true(machine.kernel_reads - before <= 1000);
}

/* Of 1,000 readings, so many asked the kernel. */
static unsigned asked_of_1000(enum followed which)
{
    unsigned before = machine.kernel_reads;
    for (int i = 0; i < 1000; i++) {
        uint64_t begin_ns = machine.now_ns, ns;
        if (!followed_read(which, &ns)) { /* as the library then does */
            machine.kernel_reads++;
            continue;
        }
        assert_true(ns >= begin_ns);
        assert_true(ns <= machine.now_ns + AHEAD_NS);
    }
    return machine.kernel_reads - before;
}

static void another_clocksource_is_noticed(void **state)
{
    (void)state;
    followed_begin("auto");
    if (followed_mode() == FOLLOWED_NEVER)
        skip(); /* this processor promises nothing of its counter */
    for (int i = 0; i < 3; i++) {
        machine.read_ns = 20;
        passed(2 * MS); /* the line of before is over */
        for (int n = 0; n < 10; n++)
            asked_of_1000(FOLLOWED_BOOTTIME);
        assert_true(asked_of_1000(FOLLOWED_BOOTTIME) >= 990);
        machine.read_ns = 1000;
        for (int n = 0; n < 10; n++)
            asked_of_1000(FOLLOWED_BOOTTIME);
        assert_true(asked_of_1000(FOLLOWED_BOOTTIME) < 100);
    }
}

/* Also when it was dear for a while: what was told then is over. */
static void where_nothing_is_gained_the_kernel_is_asked_at_once(void **state)
{
    (void)state;
    followed_begin("auto");
    if (followed_mode() == FOLLOWED_NEVER)
        skip(); /* this processor promises nothing of its counter */
    asked_of_1000(FOLLOWED_MONOTONIC);
    assert_false(followed_stands_aside());
    for (int i = 0; i < 3; i++) {
        machine.read_ns = 1000;
        for (int n = 0; n < 10; n++)
            asked_of_1000(FOLLOWED_MONOTONIC);
        assert_true(asked_of_1000(FOLLOWED_MONOTONIC) < 100);
        machine.read_ns = 20;
        passed(2 * MS); /* the lines of before are over, but what they told may be ahead */
        for (int n = 0; n < 10; n++)
            asked_of_1000(FOLLOWED_MONOTONIC);
        assert_false(followed_stands_aside());
        passed(2 * SECOND);
        for (int n = 0; n < 10; n++)
            asked_of_1000(FOLLOWED_MONOTONIC);
        assert_true(followed_stands_aside());
    }
}

static void expect_no_lines_beside_a_quick_kernel(void)
{
    followed_begin("auto");
    if (followed_mode() == FOLLOWED_NEVER)
        skip(); /* this processor promises nothing of its counter */
    machine.read_ns = 20;
    for (int i = 0; i < 100; i++) {
        passed(10 * MS);
        asked_of_1000(FOLLOWED_TAI);
        assert_int_equal(followed_drawn_sec, 0);
    }
}

static void a_quick_kernel_that_is_held_up_is_not_taken_for_a_dear_one(void **state)
{
    (void)state;
    machine.held_up_of_8 = 7;
    expect_no_lines_beside_a_quick_kernel();
}

/* A step is twice what a coarse reading takes, which by itself seems to take none. */
static void nor_is_one_beside_a_counter_with_steps(void **state)
{
    (void)state;
    machine.step_ticks = 60;
    expect_no_lines_beside_a_quick_kernel();
}

static void a_word_in_the_environment_turns_it_off(void **state)
{
    uint64_t ns;
    (void)state;
    followed_begin("kernel");
    assert_int_equal(followed_mode(), FOLLOWED_OFF);
    assert_false(followed_read(FOLLOWED_MONOTONIC, &ns));
    for (int i = 0; i < FOLLOWED_CHEAP_CALLS; i++)
        assert_true(followed_stands_aside());
    assert_false(followed_stands_aside());
}

static void a_kernel_that_refuses_is_told_by_it_and_errno_stays(void **state)
{
    uint64_t ns;
    (void)state;
    machine.refuses = 1;
    errno = 77;
    assert_false(followed_read(FOLLOWED_TAI, &ns));
    assert_int_equal(errno, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(readings_are_never_behind_nor_go_back_from_cpu_to_cpu, begin),
        cmocka_unit_test_setup(the_kernel_is_asked_once_a_window, begin),
        cmocka_unit_test_setup(after_any_sleep_a_reading_is_not_before_its_end, begin),
        cmocka_unit_test_setup(a_counter_that_stopped_for_long_is_seen_at_once, begin),
        cmocka_unit_test_setup(a_short_stop_costs_a_tick_at_most_and_is_not_repeated, begin),
        cmocka_unit_test_setup(other_cpus_go_on_by_their_counters, begin),
        cmocka_unit_test_setup(a_step_forward_is_seen_at_once, begin),
        cmocka_unit_test_setup(a_step_back_is_seen_at_once_if_large_and_in_a_window_if_small,
                               begin),
        cmocka_unit_test_setup(a_step_counts_for_lines_of_all_cpus, begin),
        cmocka_unit_test_setup(what_a_thread_tells_late_is_no_step, begin),
        cmocka_unit_test_setup(nor_is_what_it_asked_the_kernel_for, begin),
        cmocka_unit_test_setup(a_kernel_that_is_cheap_is_asked, begin),
        cmocka_unit_test_setup(another_clocksource_is_noticed, begin),
        cmocka_unit_test_setup(where_nothing_is_gained_the_kernel_is_asked_at_once, begin),
        cmocka_unit_test_setup(a_quick_kernel_that_is_held_up_is_not_taken_for_a_dear_one, begin),
        cmocka_unit_test_setup(nor_is_one_beside_a_counter_with_steps, begin),
        cmocka_unit_test_setup(a_word_in_the_environment_turns_it_off, begin),
        cmocka_unit_test_setup(a_kernel_that_refuses_is_told_by_it_and_errno_stays, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
