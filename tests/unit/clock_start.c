/* SPDX-License-Identifier: MIT */
/*
 * The first milliseconds of a clock, again and again: from readings that the system serves to
 * the first lines, in one thread and in several, nothing ever goes back.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include <timebase/clock.h>
#include <timebase/error.h>

#include "../emulated.h"
#include "clock/own/own.h"
#include "kernel_now.h"

#define STARTS 60
#define SPAN_NS 4000000
#define THREADS 2

/* A new clock on the kernel's clocks. */
struct scene {
    struct reference_kernel kernel;
    struct own_clock own;
    int64_t end_ns;
    int64_t latest_ns; /* the largest reading that a thread has told the others */
    int64_t back_ns;   /* how far a thread's reading was behind what it had been told; or 0 */
};

static void begin(struct scene *scene)
{
    static const struct reference_kernel nothing_asked;
    const struct own_clock own = OWN_CLOCK_INITIALIZER(&reference_kernel, &scene->kernel);
    scene->kernel = nothing_asked;
    scene->own = own;
    scene->end_ns = kernel_now(CLOCK_MONOTONIC) + SPAN_NS;
    scene->latest_ns = 0;
    scene->back_ns = 0;
}

static int64_t read_in_turn(const timebase_clock *clock, unsigned turn)
{
    struct timebase_instant now;
    if (turn % 2)
        return timebase_mono_ns(clock);
    timebase_now(clock, &now);
    return now.mono_ns;
}

static bool has_lines(struct scene *scene)
{
    return timebase_page_word(&cell_lines_page(&scene->own.cell)->seq) > 0;
}

static void a_new_clock_passes_from_the_system_s_time_to_lines_without_a_step_back(void **state)
{
    static struct scene scene;
    (void)state;
    for (int start = 0; start < STARTS; start++) {
        begin(&scene);
        const timebase_clock *clock = own_handle(&scene.own);
        int64_t last = kernel_now(CLOCK_MONOTONIC);
        for (unsigned turn = 0; last < scene.end_ns || !has_lines(&scene); turn++) {
            int64_t now = read_in_turn(clock, turn);
            if (now < last)
                fail_msg("start %d, reading %u: %lld ns back", start, turn,
                         (long long)(last - now));
            last = now;
        }
    }
}

/* Tell the others, but never less than they know. */
static void tell(int64_t *latest_ns, int64_t now)
{
    int64_t known = __atomic_load_n(latest_ns, __ATOMIC_RELAXED);
    while (known < now &&
           !__atomic_compare_exchange_n(latest_ns, &known, now, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

static void *read_and_compare(void *argument)
{
    struct scene *scene = (struct scene *)argument;
    const timebase_clock *clock = own_handle(&scene->own);
    int64_t now = 0;
    for (unsigned turn = 0; now < scene->end_ns; turn++) {
        int64_t known = __atomic_load_n(&scene->latest_ns, __ATOMIC_ACQUIRE);
        now = read_in_turn(clock, turn);
        if (now < known)
            __atomic_store_n(&scene->back_ns, known - now, __ATOMIC_RELAXED);
        tell(&scene->latest_ns, now);
    }
    return NULL;
}

static bool is_late(struct scene *scene)
{
    struct timebase_statistics statistics;
    assert_int_equal(timebase_clock_statistics(own_handle(&scene->own), &statistics), 0);
    return statistics.late_publications != 0;
}

/* What was published too late may go back within its bound, and is left out. */
static void threads_that_start_a_clock_together_agree_on_what_is_later(void **state)
{
    static struct scene scene;
    int in_time = 0;
    (void)state;
    for (int start = 0; start < STARTS; start++) {
        pthread_t threads[THREADS];
        begin(&scene);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, read_and_compare, &scene), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        if (is_late(&scene))
            continue;
        in_time++;
        if (scene.back_ns != 0)
            fail_msg("start %d: %lld ns back", start, (long long)scene.back_ns);
    }
    print_message("%d of %d starts were in time\n", in_time, STARTS);
    assert_true(in_time > 0);
}

/* The first conversion of a clock waits for lines, and then agrees with the readings. */
static void the_first_thing_done_with_a_clock_may_be_a_conversion(void **state)
{
    static struct scene scene;
    (void)state;
    begin(&scene);
    const timebase_clock *clock = own_handle(&scene.own);
    int64_t before = kernel_now(CLOCK_MONOTONIC);
    uint64_t ticks = timebase_ticks_ordered();
    int64_t after = kernel_now(CLOCK_MONOTONIC);
    struct timebase_instant then;
    timebase_at(clock, ticks, &then);
    int64_t error = (int64_t)then.maxerror_ns;
    assert_true(before - error <= then.mono_ns && then.mono_ns <= after + error);
    assert_int_not_equal(then.flags & TIMEBASE_LINE_STATUS_MASK, TIMEBASE_STATUS_UNKNOWN);
}

int main(void)
{
    confine_if_emulated();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_clock_passes_from_the_system_s_time_to_lines_without_a_step_back),
        cmocka_unit_test(threads_that_start_a_clock_together_agree_on_what_is_later),
        cmocka_unit_test(the_first_thing_done_with_a_clock_may_be_a_conversion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
