/* SPDX-License-Identifier: MIT */
/* A preloaded program's threads, children, handlers, constructors and plug-ins. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "preload.h"
#include "skipped.h"

/* With the seconds of struct timespec here. */
#define NAME_GETTIME (sizeof(time_t) > sizeof(long) ? "__clock_gettime64" : "clock_gettime")

enum { READINGS = 20000, THREADS = 4, FORKS = 20, SIGNALS = 200 };

/* Of the library that is initialised before all others, so before the one that is preloaded. */
extern const struct early {
    int64_t before_ns, reading_ns, after_ns;
    int result, errno_after;
} early;

static void a_constructor_before_ours_reads_the_kernels_clock(void **state)
{
    (void)state;
    assert_int_equal(early.result, 0);
    assert_int_equal(early.errno_after, EXDEV);
    assert_between(early.before_ns, early.reading_ns, early.after_ns + AHEAD_NS);
}

/* ---- threads, wherever they run ------------------------------------------------------------------ */

static struct {
    pthread_mutex_t lock;
    clockid_t id;
    int64_t last_ns;
    unsigned left, back;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *take_turns(void *unused)
{
    for (int goes_on = 1; goes_on;) {
        pthread_mutex_lock(&shared.lock);
        goes_on = shared.left > 0;
        if (goes_on) {
            int64_t now_ns = reading_ns(shared.id);
            shared.back += now_ns < shared.last_ns;
            shared.last_ns = now_ns;
            shared.left--;
        }
        pthread_mutex_unlock(&shared.lock);
        sched_yield();
    }
    return unused;
}

static void threads_see_no_time_go_back(void **state)
{
    const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME};
    (void)state;
    for (int i = 0; i < 3; i++) {
        pthread_t threads[THREADS];
        shared.id = clocks[i];
        shared.last_ns = 0;
        shared.left = READINGS;
        for (int n = 0; n < THREADS; n++)
            assert_int_equal(pthread_create(&threads[n], NULL, take_turns, NULL), 0);
        for (int n = 0; n < THREADS; n++)
            pthread_join(threads[n], NULL);
        assert_int_equal(shared.back, 0);
    }
}

static void a_thread_that_is_moved_sees_no_time_go_back(void **state)
{
    cpu_set_t all, one;
    int64_t last_ns = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    for (int round = 0; round < 50; round++)
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (!CPU_ISSET(cpu, &all))
                continue;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof(one), &one);
            for (int n = 0; n < 10; n++) {
                int64_t now_ns = reading_ns(CLOCK_MONOTONIC);
                assert_true(now_ns >= last_ns);
                last_ns = now_ns;
            }
        }
    sched_setaffinity(0, sizeof(all), &all);
}

/* ---- signal handlers ----------------------------------------------------------------------------- */

static volatile sig_atomic_t signals, signals_back;
static volatile int64_t seen_ns;

static void on_alarm(int number)
{
    int64_t now_ns = reading_ns(CLOCK_MONOTONIC);
    (void)number;
    signals_back += now_ns < seen_ns;
    seen_ns = now_ns;
    signals++;
}

static void a_handler_reads_in_the_midst_of_a_reading(void **state)
{
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm};
    (void)state;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (signals < SIGNALS) {
        int64_t before_ns = seen_ns, now_ns = reading_ns(CLOCK_MONOTONIC);
        assert_true(now_ns >= before_ns);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    assert_int_equal(signals_back, 0);
}

/* ---- children ------------------------------------------------------------------------------------ */

static int is_right_here(void)
{
    int64_t before = kernel_ns(CLOCK_MONOTONIC), here = reading_ns(CLOCK_MONOTONIC);
    return here >= before && here <= kernel_ns(CLOCK_MONOTONIC) + AHEAD_NS;
}

static void await(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_child_goes_on_with_the_time(void **state)
{
    (void)state;
    for (int i = 0; i < FORKS; i++) {
        int64_t before_ns = reading_ns(CLOCK_MONOTONIC);
        pid_t child = fork();
        if (child == 0)
            _exit(reading_ns(CLOCK_MONOTONIC) >= before_ns && is_right_here() ? 0 : 1);
        await(child);
    }
}

static void so_does_one_of_vfork(void **state)
{
    (void)state;
    for (int i = 0; i < FORKS; i++) {
        pid_t child = vfork();
        if (child == 0)
            _exit(is_right_here() ? 0 : 1);
        await(child);
        assert_true(is_right_here());
    }
}

static void so_does_one_that_was_forked_among_threads(void **state)
{
    pthread_t thread;
    (void)state;
    shared.id = CLOCK_MONOTONIC;
    shared.last_ns = 0;
    shared.left = UINT32_MAX;
    assert_int_equal(pthread_create(&thread, NULL, take_turns, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(is_right_here() ? 0 : 1);
        await(child);
    }
    pthread_mutex_lock(&shared.lock);
    shared.left = 0;
    pthread_mutex_unlock(&shared.lock);
    pthread_join(thread, NULL);
}

/* ---- plug-ins ------------------------------------------------------------------------------------ */

static void a_plug_in_finds_the_same_functions(void **state)
{
    int (*found)(clockid_t, struct timespec *);
    struct timespec now;
    (void)state;
    *(void **)&found = dlsym(RTLD_DEFAULT, NAME_GETTIME);
    assert_non_null(found);
    int64_t before = kernel_ns(CLOCK_BOOTTIME);
    assert_int_equal(found(CLOCK_BOOTTIME, &now), 0);
    assert_between(before, ns_of(&now), kernel_ns(CLOCK_BOOTTIME) + AHEAD_NS);
}

/* Another copy, since the loader knows the first by its file: it has the C library behind it. */
static void one_that_is_opened_later_works_too(void **state)
{
    int (*found)(clockid_t, struct timespec *);
    struct timespec now;
    void *library = dlmopen(LM_ID_NEWLM, PRELOAD, RTLD_NOW);
    (void)state;
    if (library == NULL)
        skip_because(dlerror());
    *(void **)&found = dlsym(library, NAME_GETTIME);
    assert_non_null(found);
    for (int i = 0; i < 1000; i++) {
        int64_t before = kernel_ns(CLOCK_MONOTONIC);
        assert_int_equal(found(CLOCK_MONOTONIC, &now), 0);
        assert_between(before, ns_of(&now), kernel_ns(CLOCK_MONOTONIC) + AHEAD_NS);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constructor_before_ours_reads_the_kernels_clock),
        cmocka_unit_test(threads_see_no_time_go_back),
        cmocka_unit_test(a_thread_that_is_moved_sees_no_time_go_back),
        cmocka_unit_test(a_handler_reads_in_the_midst_of_a_reading),
        cmocka_unit_test(a_child_goes_on_with_the_time),
        cmocka_unit_test(so_does_one_of_vfork),
        cmocka_unit_test(so_does_one_that_was_forked_among_threads),
        cmocka_unit_test(a_plug_in_finds_the_same_functions),
        cmocka_unit_test(one_that_is_opened_later_works_too),
    };
    (void)argc;
    run_preloaded(argv, "always");
    return run_all(tests);
}
