/* SPDX-License-Identifier: MIT */
/* The memory lock is the process': of its threads, of what it locked before, and not of children.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sys/mman.h>

#include "acquire.h"

static void lock_memory(void)
{
    struct timebase_realtime rt = acquire(TIMEBASE_REALTIME_MEMORY);
    if (rt.refused != 0)
        child_skip("memory cannot be locked here");
    if (settings_now().is_locked < 1)
        child_skip("it cannot be seen whether memory is locked");
}

static void lock_a_page_before(void)
{
    static char page[8192];
    EXPECT(mlock(page, 1) == 0);
    long before_kb = settings_locked_kb();
    struct timebase_realtime rt = acquire(TIMEBASE_REALTIME_MEMORY);
    release(&rt);
    EXPECT(settings_locked_kb() >= before_kb);
}

static void memory_that_was_locked_before_stays_locked(void **state)
{
    (void)state;
    child_must_pass(lock_a_page_before);
}

static struct timebase_realtime others;

static void *acquire_and_stay(void *argument)
{
    struct timebase_realtime_request request = {TIMEBASE_REALTIME_MEMORY, 0, 0};
    (void)argument;
    timebase_realtime_acquire(&others, &request);
    return NULL;
}

/* The other thread acquires after ours, and does not release; ours does. */
static void hold_in_two_threads(void)
{
    pthread_t thread;
    struct timebase_realtime rt = acquire(TIMEBASE_REALTIME_MEMORY);
    EXPECT(settings_start_thread(&thread, acquire_and_stay, NULL) == 0);
    pthread_join(thread, NULL);
    release(&rt);
    EXPECT(settings_locked_kb() > 100);
}

static void memory_stays_locked_while_another_thread_holds_it(void **state)
{
    (void)state;
    child_must_pass(hold_in_two_threads);
}

static void lock_and_unlock(void)
{
    struct timebase_realtime own = acquire(TIMEBASE_REALTIME_MEMORY);
    EXPECT(settings_now().is_locked == 1);
    release(&own);
    EXPECT(settings_now().is_locked == 0);
}

static void lock_and_fork(void)
{
    acquire(TIMEBASE_REALTIME_MEMORY);
    _exit(child_run(lock_and_unlock));
}

/* It inherits the count of its parent's holders, but not the lock. */
static void a_childs_own_lock_is_its_own(void **state)
{
    (void)state;
    child_must_pass(lock_and_fork);
}

int main(void)
{
    if (child_run(lock_memory) == SKIPPED)
        return SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_was_locked_before_stays_locked),
        cmocka_unit_test(memory_stays_locked_while_another_thread_holds_it),
        cmocka_unit_test(a_childs_own_lock_is_its_own),
    };
    return run_all(tests);
}
