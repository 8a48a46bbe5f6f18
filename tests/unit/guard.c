/* SPDX-License-Identifier: MIT */
/* The lock of a clock: whoever had it and is gone does not have it; whoever is not, has it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../emulated.h"
#include "../system/namespaced.h"
#include "clock/guard.h"
#include "clock/space.h"

/*
 * ThreadSanitizer holds signals back by itself, keeps its state in memory that a raw clone shares,
 * and lets nobody start threads after a raw fork. A thread that ends by a raw exit goes on for it.
 * What these tests show, the other builds show.
 */
static void not_under_thread_sanitizer(void)
{
#ifdef __SANITIZE_THREAD__
    print_message("ThreadSanitizer allows neither raw clones nor signals of one's own\n");
    skip();
#endif
}

static struct clock_guard guard;
static struct clock_hold hold;

/* As another function would have it: what it takes is not given back. */
__attribute__((noinline)) static enum guard_result try_and_give_back(void)
{
    struct clock_hold own;
    enum guard_result result = guard_try(&guard, &own);
    if (result != GUARD_BUSY)
        guard_release(&guard, &own);
    return result;
}

static int begin(void **state)
{
    static const struct clock_guard nobody;
    (void)state;
    guard = nobody;
    return 0;
}

static void what_is_given_back_can_be_taken_again(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(guard_try(&guard, &hold), GUARD_TAKEN);
        assert_true(guard_is_taken(&guard));
        guard_release(&guard, &hold);
        assert_false(guard_is_taken(&guard));
    }
}

static void *try_in_thread(void *result)
{
    *(enum guard_result *)result = try_and_give_back();
    return NULL;
}

static enum guard_result result_of_another_thread(void)
{
    enum guard_result result = GUARD_TAKEN;
    pthread_t thread;
    pthread_create(&thread, NULL, try_in_thread, &result);
    pthread_join(thread, NULL);
    return result;
}

static void another_thread_s_is_busy(void **state)
{
    (void)state;
    guard_try(&guard, &hold);
    assert_int_equal(result_of_another_thread(), GUARD_BUSY);
    guard_release(&guard, &hold);
    assert_int_equal(result_of_another_thread(), GUARD_TAKEN);
}

static sigjmp_buf way_out;
static volatile sig_atomic_t handled, result_in_handler;

static void try_in_handler(int number)
{
    (void)number;
    result_in_handler = (int)try_and_give_back();
    handled++;
}

/* Ordinary signals wait until the work is done; those of faults do not, and find it busy. */
static void signals_wait_but_those_of_faults(void **state)
{
    (void)state;
    not_under_thread_sanitizer();
    handled = 0;
    signal(SIGUSR1, try_in_handler);
    signal(SIGSEGV, try_in_handler);
    guard_try(&guard, &hold);
    raise(SIGUSR1);
    assert_int_equal(handled, 0);
    raise(SIGSEGV);
    assert_int_equal(handled, 1);
    assert_int_equal(result_in_handler, GUARD_BUSY);
    guard_release(&guard, &hold);
    assert_int_equal(handled, 2);
    assert_int_equal(result_in_handler, GUARD_TAKEN);
    signal(SIGSEGV, SIG_DFL);
}

static void try_on_signal_stack(int number, char *stack, size_t size)
{
    stack_t own = {.ss_sp = stack, .ss_size = size}, none = {.ss_flags = SS_DISABLE};
    struct sigaction action = {.sa_handler = try_in_handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&own, NULL);
    sigaction(number, &action, NULL);
    raise(number);
    sigaltstack(&none, NULL);
    signal(number, SIG_DFL);
}

static void handlers_on_a_stack_of_their_own_find_it_busy_too(void **state)
{
    char above[65536]; /* what takes it, on this thread's stack */
    (void)state;
    guard_try(&guard, &hold);
    try_on_signal_stack(SIGSEGV, above, sizeof(above));
    assert_int_equal(result_in_handler, GUARD_BUSY);
    guard_release(&guard, &hold);
}

static void leave(int number)
{
    (void)number;
    siglongjmp(way_out, 1);
}

__attribute__((noinline)) static void take_and_fault(void)
{
    struct clock_hold own;
    if (guard_try(&guard, &own) == GUARD_TAKEN)
        raise(SIGSEGV);
}

static void what_a_handler_left_by_a_jump_is_recovered(void **state)
{
    (void)state;
    signal(SIGSEGV, leave);
    if (sigsetjmp(way_out, 1) == 0)
        take_and_fault();
    signal(SIGSEGV, SIG_DFL);
    assert_true(guard_is_taken(&guard));
    assert_int_equal(guard_try(&guard, &hold), GUARD_RECOVERED);
    guard_release(&guard, &hold);
}

static void *take_and_die(void *argument)
{
    static struct clock_hold lost;
    (void)argument;
    guard_try(&guard, &lost);
    syscall(SYS_exit, 0); /* as a sandbox ends a thread: nothing of the C library runs */
    return NULL;
}

static void let_a_thread_take_and_die(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, take_and_die, NULL);
    while (!guard_is_taken(&guard))
        sched_yield();
}

/* Ends when the thread has: a late one would write into the lock of the next test. */
static void recover_from_the_dead(void)
{
    while (guard_try(&guard, &hold) != GUARD_RECOVERED)
        sched_yield();
    guard_release(&guard, &hold);
}

static void what_a_dead_thread_had_is_recovered(void **state)
{
    (void)state;
    not_under_thread_sanitizer();
    let_a_thread_take_and_die();
    recover_from_the_dead();
}

/* ---- processes */

static int status_of(long child)
{
    int status;
    if (child < 0 || waitpid((pid_t)child, &status, __WALL) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static void a_fork_s_child_recovers_what_a_lost_thread_had(void **state)
{
    (void)state;
    not_under_thread_sanitizer();
    let_a_thread_take_and_die();
    uint32_t number = space_number();
    pid_t child = fork();
    if (child == 0)
        _exit(space_number() != number && try_and_give_back() == GUARD_RECOVERED &&
                      try_and_give_back() == GUARD_TAKEN
                  ? 0
                  : 1);
    assert_int_equal(status_of(child), 0);
    assert_int_equal(space_number(), number);
    recover_from_the_dead();
}

static int is_enough;

static void *take_and_wait(void *argument)
{
    struct clock_hold own;
    (void)argument;
    guard_try(&guard, &own);
    while (!__atomic_load_n(&is_enough, __ATOMIC_ACQUIRE))
        sched_yield();
    guard_release(&guard, &own);
    return NULL;
}

/* In the parent it lives on, and its number is taken. */
static void and_what_a_thread_has_that_it_did_not_inherit(void **state)
{
    pthread_t thread;
    (void)state;
    is_enough = 0;
    pthread_create(&thread, NULL, take_and_wait, NULL);
    while (!guard_is_taken(&guard))
        sched_yield();
    pid_t child = fork();
    if (child == 0)
        _exit(try_and_give_back() == GUARD_RECOVERED ? 0 : 1);
    assert_int_equal(status_of(child), 0);
    assert_int_equal(try_and_give_back(), GUARD_BUSY);
    __atomic_store_n(&is_enough, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

static char child_stack[65536] __attribute__((aligned(16)));

static int try_in_child(void *argument)
{
    (void)argument;
    return (int)try_and_give_back();
}

static int take_in_child(void *argument)
{
    (void)argument;
    guard_try(&guard, &hold);
    return 0;
}

/* In the parent's memory, as a child of vfork is. */
static long start_in_this_memory(int (*body)(void *))
{
    return clone(body, child_stack + sizeof(child_stack), CLONE_VM | SIGCHLD, NULL);
}

static void skip_where_forks_wipe_nothing(void)
{
    if (is_emulated())
        skip();
}

static void a_child_in_the_same_memory_steals_nothing(void **state)
{
    (void)state;
    not_under_thread_sanitizer();
    skip_where_forks_wipe_nothing();
    assert_int_equal(status_of(start_in_this_memory(try_in_child)), GUARD_TAKEN);
    guard_try(&guard, &hold);
    assert_int_equal(status_of(start_in_this_memory(try_in_child)), GUARD_BUSY);
    guard_release(&guard, &hold);
}

static void nor_does_it_keep_anything_when_it_is_gone(void **state)
{
    (void)state;
    not_under_thread_sanitizer();
    skip_where_forks_wipe_nothing();
    long child = start_in_this_memory(take_in_child);
    while (!guard_is_taken(&guard))
        sched_yield();
    assert_int_equal(try_and_give_back(), GUARD_BUSY); /* not waited for: it is still known */
    assert_int_equal(status_of(child), 0);
    assert_int_equal(try_and_give_back(), GUARD_RECOVERED);
}

/* The first process of a namespace has number 1, and so has its child in another. */
static void the_first_of_a_namespace_recovers_what_it_did_not_inherit(void **state)
{
    (void)state;
    not_under_thread_sanitizer();
    skip_where_forks_wipe_nothing();
    long first = namespaced_fork();
    if (first < 0)
        skip();
    if (first == 0) {
        let_a_thread_take_and_die();
        long second = namespaced_fork();
        if (second == 0)
            _exit(getpid() == 1 && try_and_give_back() == GUARD_RECOVERED ? 0 : 1);
        _exit(status_of(second));
    }
    assert_int_equal(status_of(first), 0);
}

int main(void)
{
#define A_GUARD(test) cmocka_unit_test_setup(test, begin)
    const struct CMUnitTest tests[] = {
        A_GUARD(what_is_given_back_can_be_taken_again),
        A_GUARD(another_thread_s_is_busy),
        A_GUARD(signals_wait_but_those_of_faults),
        A_GUARD(handlers_on_a_stack_of_their_own_find_it_busy_too),
        A_GUARD(what_a_handler_left_by_a_jump_is_recovered),
        A_GUARD(what_a_dead_thread_had_is_recovered),
        A_GUARD(a_fork_s_child_recovers_what_a_lost_thread_had),
        A_GUARD(and_what_a_thread_has_that_it_did_not_inherit),
        A_GUARD(a_child_in_the_same_memory_steals_nothing),
        A_GUARD(nor_does_it_keep_anything_when_it_is_gone),
        A_GUARD(the_first_of_a_namespace_recovers_what_it_did_not_inherit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
