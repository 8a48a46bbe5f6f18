/* SPDX-License-Identifier: MIT */
/* Forks: a child's waiter is as good as its parent's, whenever the fork came. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include "../emulated.h"
#include "../repeats.h"
#include "whole_waiter.h"

#define FORKS 40

static void use_waiter(void)
{
    whole_waiter_check(the_waiter());
}

static void make_a_waiter_and_use_it(void)
{
    static struct timebase_waiter own;
    EXPECT(timebase_waiter_init(&own, timebase_clock_default()) == 0);
    whole_waiter_check(&own);
    use_waiter();
}

static void a_child_goes_on_with_its_parents_waiter(void **state)
{
    (void)state;
    the_waiter();
    use_waiter();
    child_must_pass(use_waiter);
    child_must_pass(make_a_waiter_and_use_it);
    use_waiter();
}

/* The last wait is not settled yet: nobody asked for its result. */
static void a_child_goes_on_after_a_wait_without_a_result(void **state)
{
    (void)state;
    wait_by(the_waiter(), UNTIL_TICKS, target_in(UNTIL_TICKS, 3000), 0, NULL);
    child_must_pass(use_waiter);
}

/* ---- a fork in the event ------------------------------------------------------------------ */

static pid_t forked;

static void fork_in_event(void *argument)
{
    (void)argument;
    fflush(stdout);
    forked = fork();
}

static void a_fork_in_the_event_returns_twice(void **state)
{
    struct timebase_wait_result result;
    (void)state;
    for (int i = 0; i < repeats(FORKS); i++) {
        uint64_t target = timebase_ticks() + (uint64_t)ticks_of(5000);
        int late = timebase_wait_call_ticks(the_waiter(), target, (unsigned)i & 3, fork_in_event,
                                            NULL, &result);
        if (forked == 0) {
            EXPECT(late == result.late);
            use_waiter();
            _exit(0);
        }
        assert_int_equal(late, result.late);
        assert_int_equal(child_status(forked), 0);
    }
}

/* ---- a fork by another thread, in the middle of waits ------------------------------------- */

static int should_stop;

static void *fork_again_and_again(void *failed)
{
    for (int i = 0; i < repeats(FORKS); i++)
        *(int *)failed |= child_run(use_waiter);
    __atomic_store_n(&should_stop, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void a_child_forked_in_the_middle_of_a_wait_has_a_good_waiter(void **state)
{
    pthread_t thread;
    int failed = 0;
    (void)state;
    if (UNDER_THREAD_SANITIZER)
        skip_because("ThreadSanitizer's children of threads cannot make threads of their own");
    confine_if_emulated();
    should_stop = 0;
    assert_int_equal(pthread_create(&thread, NULL, fork_again_and_again, &failed), 0);
    while (!__atomic_load_n(&should_stop, __ATOMIC_ACQUIRE))
        wait_by(the_waiter(), UNTIL_TICKS, target_in(UNTIL_TICKS, 300000), 0, NULL);
    pthread_join(thread, NULL);
    assert_int_equal(failed, 0);
    use_waiter();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_goes_on_with_its_parents_waiter),
        cmocka_unit_test(a_child_goes_on_after_a_wait_without_a_result),
        cmocka_unit_test(a_fork_in_the_event_returns_twice),
        cmocka_unit_test(a_child_forked_in_the_middle_of_a_wait_has_a_good_waiter),
    };
    return run_all(tests);
}
