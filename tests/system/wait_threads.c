/* SPDX-License-Identifier: MIT */
/* Threads in parallel, a waiter for each: none sees anything of the others. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include "../emulated.h"
#include "../unit/waiting.h"
#include "skipped.h"

#define THREADS 4
#define WAITS 600

/* What a thread has of its own. No assertion leaves a thread: it counts what failed. */
struct worker {
    struct timebase_waiter waiter;
    pthread_t thread;
    int number, calls, rehearsals;
    uint64_t event_ticks;
    int failures;
    const char *first; /* what failed first */
};

#define CHECK(worker, condition)                                                                   \
    do {                                                                                           \
        if (!(condition) && (worker)->failures++ == 0)                                             \
            (worker)->first = #condition;                                                          \
    } while (0)

static void note(void *argument)
{
    struct worker *worker = argument;
    worker->event_ticks = timebase_ticks_ordered();
    if (timebase_wait_rehearsing())
        worker->rehearsals++;
    else
        worker->calls++;
}

static void wait_once(struct worker *worker, unsigned flags)
{
    struct timebase_wait_result result;
    int64_t ns = flags & TIMEBASE_WAIT_SLEEP ? 300000 : 8000;
    uint64_t target = timebase_ticks() + (uint64_t)ticks_of(ns);
    uint64_t before = timebase_ticks_ordered();
    worker->calls = worker->rehearsals = 0;
    int late = timebase_wait_call_ticks(&worker->waiter, target, flags, note, worker, &result);
    CHECK(worker, late == result.late);
    CHECK(worker, worker->calls == 1);
    CHECK(worker, worker->rehearsals <= (flags & TIMEBASE_WAIT_REHEARSE ? 1 : 0));
    CHECK(worker, result.target_ticks == target);
    CHECK(worker, (int64_t)(result.event_ticks - before) >= 0);
    CHECK(worker, (int64_t)(worker->event_ticks - result.event_ticks) >= 0);
    if (flags & TIMEBASE_WAIT_NEVER_EARLY)
        CHECK(worker, (int64_t)(worker->event_ticks - target) >= 0);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    CHECK(worker, timebase_waiter_init(&worker->waiter, timebase_clock_default()) == 0);
    for (int i = 0; i < WAITS; i++)
        wait_once(worker, (unsigned)(i + 16 * worker->number) & EVERY_FLAG);
    CHECK(worker, description_of(&worker->waiter).waits == WAITS);
    CHECK(worker, timebase_waiter_calibrate(&worker->waiter) == 0);
    return NULL;
}

static void every_thread_has_waits_of_its_own(void **state)
{
    static struct worker workers[THREADS];
    (void)state;
    confine_if_emulated();
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].failures > 0)
            fail_msg("thread %d: %d times, first: %s", i, workers[i].failures, workers[i].first);
}

/* A waiter may be handed on: it is for one thread at a time. */
static void *use_handed_on(void *argument)
{
    struct worker *worker = argument;
    for (unsigned flags = 0; flags <= EVERY_FLAG; flags++)
        wait_once(worker, flags);
    return NULL;
}

static void a_waiter_handed_to_another_thread_works_there(void **state)
{
    static struct worker worker;
    (void)state;
    assert_int_equal(timebase_waiter_init(&worker.waiter, timebase_clock_default()), 0);
    for (int i = 0; i < 3; i++) {
        use_handed_on(&worker);
        assert_int_equal(pthread_create(&worker.thread, NULL, use_handed_on, &worker), 0);
        pthread_join(worker.thread, NULL);
    }
    if (worker.failures > 0)
        fail_msg("%d times, first: %s", worker.failures, worker.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_has_waits_of_its_own),
        cmocka_unit_test(a_waiter_handed_to_another_thread_works_there),
    };
    return run_all(tests);
}
