/* SPDX-License-Identifier: MIT */
/*
 * The counter read with its CPU by the mark of the thread's restartable sequence, on a real kernel:
 * what every processor but x86 does, and this program does on x86 as well. Threads are moved while
 * they read, by themselves in the midst of a reading, and by another thread at any moment. Where
 * kernel or C library have no such sequence, nothing is read so, and that is what is expected there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <timebase/counter.h>
#include <timebase/cpus.h>
#include <timebase/error.h>
#include <timebase/wait.h>

#include "clock/counter/by_cpu_rseq.h"

enum { SKIPPED = 77, CPUS_MAX = 1024, MOVES = 200, WAITS = 10000 };
/* The counters of this machine may agree. Invented ones are so far apart, from CPU to CPU. */
#define APART ((uint64_t)1 << 48)

static int cpus[2]; /* two that this process may use */

static bool find_cpus(void)
{
    cpu_set_t allowed;
    int found = 0;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return false;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            cpus[found++] = cpu;
    return found == 2;
}

static bool go_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* ---- what is to be expected ------------------------------------------------------------------ */

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35) && defined(RSEQ_SIG) && UINTPTR_MAX > UINT32_MAX
enum { C_LIBRARY_CAN = true };
#else
enum { C_LIBRARY_CAN = false };
#endif

/* By its answer to a call that makes no sense. */
static bool kernel_can(void)
{
#if defined(SYS_rseq)
    return syscall(SYS_rseq, NULL, 0, 0, 0) != 0 && errno == EINVAL;
#else
    return false;
#endif
}

static bool is_tuned_off(void)
{
    const char *tunables = getenv("GLIBC_TUNABLES");
    return tunables != NULL && strstr(tunables, "pthread.rseq=0") != NULL;
}

static bool is_to_be_possible(void)
{
    return C_LIBRARY_CAN && kernel_can() && !is_tuned_off();
}

static void it_is_possible_where_kernel_and_c_library_have_it(void **state)
{
    (void)state;
    assert_int_equal(by_cpu_is_possible(), is_to_be_possible());
}

static void elsewhere_nothing_is_corrected(void **state)
{
    static struct by_cpu_table table;
    timebase_cpus *handle;
    unsigned cpu;
    int64_t again_ns;
    (void)state;
    if (is_to_be_possible())
        return;
    by_cpu_read(&cpu);
    assert_int_equal(cpu, BY_CPU_UNKNOWN);
    assert_int_equal(counter_correct(&table), TIMEBASE_E_UNSUPPORTED);
    assert_null(counter_correction());
    assert_int_equal(timebase_cpus_open(&handle), 0);
    assert_int_equal(timebase_cpus_correct(handle, &again_ns), TIMEBASE_E_UNSUPPORTED);
    timebase_cpus_close(handle);
}

/* ---- moved in the midst of a reading --------------------------------------------------------- */

static struct {
    unsigned readings;
    unsigned disturbed;     /* so many of them are */
    int before_to, then_to; /* the thread goes there before and behind the counter's reading, or -1 */
    unsigned cpu;           /* where that was, by another witness */
} watched;

static unsigned witness(void)
{
    unsigned cpu = UINT_MAX;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_rdtscp(&cpu);
    cpu &= 0xfff;
#else
    syscall(SYS_getcpu, &cpu, NULL, NULL);
#endif
    return cpu;
}

static uint64_t watched_ticks(void)
{
    bool is_disturbed = watched.readings++ < watched.disturbed;
    if (is_disturbed && watched.before_to >= 0)
        assert_true(go_to(watched.before_to));
    watched.cpu = witness();
    uint64_t ticks = timebase_arch_ticks_ordered();
    if (is_disturbed && watched.then_to >= 0)
        assert_true(go_to(watched.then_to));
    return ticks;
}

static unsigned read_watched(unsigned disturbed, int before_to, int then_to)
{
    unsigned cpu;
    watched.readings = 0;
    watched.disturbed = disturbed;
    watched.before_to = before_to;
    watched.then_to = then_to;
    by_cpu_by_rseq(watched_ticks, &cpu);
    return cpu;
}

static void who_moves_before_the_counter_reads_again(void **state)
{
    (void)state;
    assert_true(go_to(cpus[0]));
    assert_int_equal(read_watched(1, cpus[1], -1), cpus[1]);
    assert_true(watched.readings >= 2);
    assert_int_equal(watched.cpu, cpus[1]);
}

static void who_moves_behind_the_counter_reads_again(void **state)
{
    (void)state;
    assert_true(go_to(cpus[0]));
    assert_int_equal(read_watched(1, -1, cpus[1]), cpus[1]);
    assert_true(watched.readings >= 2);
    assert_int_equal(watched.cpu, cpus[1]);
}

/* The counter was read on the other CPU, and the thread's number is the same before and after. */
static void who_moves_there_and_back_reads_again(void **state)
{
    (void)state;
    assert_true(go_to(cpus[0]));
    assert_int_equal(read_watched(1, cpus[1], cpus[0]), cpus[0]);
    assert_true(watched.readings >= 2);
    assert_int_equal(watched.cpu, cpus[0]);
}

static void who_moves_each_time_knows_no_cpu(void **state)
{
    (void)state;
    assert_true(go_to(cpus[0]));
    assert_int_equal(read_watched(UINT_MAX, cpus[1], cpus[0]), BY_CPU_UNKNOWN);
    assert_int_equal(watched.readings, BY_CPU_RSEQ_ATTEMPTS + 1);
}

/* The kernel would look for it after dlclose(). */
static void no_mark_is_left(void **state)
{
    const unsigned disturbed[] = {0, 1, 2, UINT_MAX};
    const uint32_t *rseq = rseq_here();
    (void)state;
    for (size_t i = 0; i < sizeof(disturbed) / sizeof(*disturbed); i++) {
        read_watched(disturbed[i], cpus[1], cpus[0]);
        assert_int_equal(rseq[RSEQ_CS] | rseq[RSEQ_CS + 1], 0);
    }
}

static void who_has_set_a_mark_hears_of_a_move_within_a_reading(void **state)
{
    uint32_t *rseq = rseq_here();
    (void)state;
    assert_true(go_to(cpus[0]));
    rseq_set_mark(rseq);
    read_watched(1, cpus[1], cpus[0]);
    assert_false(rseq_has_mark(rseq));
}

/* ---- moved at any moment, under a table ------------------------------------------------------ */

static struct {
    pthread_t reader;
    pid_t tid;
    unsigned moves; /* that have begun */
    bool is_over;
    unsigned readings, handled, wrong; /* the reader's, and its handler's */
} shared;

static unsigned count_of(const unsigned *count)
{
    return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

static void count(unsigned *count)
{
    __atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
}

#if defined(__x86_64__) || defined(__i386__)

static uint64_t read_on(unsigned *cpu)
{
    uint64_t ticks = __builtin_ia32_rdtscp(cpu);
    *cpu &= 0xfff;
    return ticks;
}

#else

/* At most one move falls between the two questions: an answer that is the same twice is right. */
static uint64_t read_on(unsigned *cpu)
{
    unsigned before, moves;
    uint64_t ticks;
    do {
        moves = count_of(&shared.moves);
        before = witness();
        ticks = timebase_arch_ticks_ordered();
        *cpu = witness();
    } while (before != *cpu || moves != count_of(&shared.moves));
    return ticks;
}

#endif

/* Most interruptions are to fall here. */
static void linger(void)
{
    for (volatile int i = 0; i < 100; i++)
        ;
}

/* The counter of a machine where CPU n is behind CPU 0 by n * APART: what is corrected here. */
uint64_t apart_ticks(void)
{
    unsigned cpu;
    linger();
    uint64_t ticks = read_on(&cpu);
    linger();
    return ticks - cpu * APART;
}

static struct by_cpu_entry entries[2][CPUS_MAX];
static struct by_cpu_table table = {
    .cpus = CPUS_MAX, .copy = {{.entries = entries[0]}, {.entries = entries[1]}}};

static int correct(void **state)
{
    struct by_cpu_copy *next = by_cpu_next(&table);
    uint64_t now = timebase_arch_ticks_ordered();
    (void)state;
    for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
        uint64_t then = now - cpu * APART;
        struct by_cpu_line line = {.start_ticks = then, .add_ticks = cpu * APART};
        struct by_cpu_entry entry = {line, line, line, then + ((uint64_t)1 << 62), 1};
        by_cpu_set_entry(next, cpu, &entry);
    }
    by_cpu_publish(&table);
    return counter_correct(&table);
}

static int end(void **state)
{
    (void)state;
    return timebase_counter_select((int)TIMEBASE_ARCH_COUNTER);
}

/* By the lines of another CPU it would be APART off, or more. */
static void read_once(unsigned *readings)
{
    uint64_t before = timebase_arch_ticks_ordered();
    uint64_t ahead = timebase_ticks() - before;
    count(readings);
    if (ahead + APART / 2 >= APART)
        count(&shared.wrong);
}

static void handle(int number)
{
    (void)number;
    read_once(&shared.handled);
}

static void *read_all_along(void *unused)
{
    __atomic_store_n(&shared.tid, (pid_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&shared.is_over, __ATOMIC_SEQ_CST))
        read_once(&shared.readings);
    return unused;
}

/* Returns when the thread has read there: only who runs is moved in the midst of something. */
static void move_reader(int cpu)
{
    unsigned readings;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    count(&shared.moves);
    assert_int_equal(sched_setaffinity(shared.tid, sizeof(set), &set), 0);
    readings = count_of(&shared.readings);
    while (count_of(&shared.readings) == readings)
        sched_yield();
}

static void each_reading_is_by_the_lines_of_its_own_cpu(void **state)
{
    (void)state;
    assert_true(signal(SIGUSR1, handle) != SIG_ERR);
    assert_int_equal(pthread_create(&shared.reader, NULL, read_all_along, NULL), 0);
    while (count_of(&shared.readings) == 0)
        sched_yield();
    for (unsigned i = 0; i < MOVES; i++) {
        move_reader(cpus[i % 2]);
        pthread_kill(shared.reader, SIGUSR1);
    }
    while (count_of(&shared.handled) == 0)
        sched_yield();
    __atomic_store_n(&shared.is_over, true, __ATOMIC_SEQ_CST);
    pthread_join(shared.reader, NULL);
    printf("%u moves, %u readings and %u in handlers\n", shared.moves, shared.readings,
           shared.handled);
    assert_int_equal(shared.wrong, 0);
}

/* ---- a waiter's mark ------------------------------------------------------------------------- */

/* Each poll of a wait is such a reading, within the mark that the wait has set. If it took the mark
 * away, all waits would be preempted. */
static void a_wait_s_own_readings_do_not_look_like_a_preemption(void **state)
{
    static struct timebase_waiter waiter;
    struct timebase_waiter_description description;
    struct timebase_wait_result result = {.disturbance = TIMEBASE_DISTURBED_PREEMPTED};
    (void)state;
    assert_int_equal(timebase_waiter_init(&waiter, timebase_clock_default()), TIMEBASE_OK);
    for (int i = 0; i < WAITS && (result.disturbance & TIMEBASE_DISTURBED_PREEMPTED) != 0; i++) {
        uint64_t target = timebase_ticks() + 1 + (uint64_t)i % 50000;
        timebase_wait_until_ticks(&waiter, target, TIMEBASE_WAIT_NEVER_EARLY, &result);
        assert_true((int64_t)(timebase_ticks() - target) >= 0);
    }
    timebase_waiter_describe(&waiter, &description);
    assert_true((description.evidence & TIMEBASE_DISTURBED_PREEMPTED) != 0);
    assert_true((result.disturbance & TIMEBASE_DISTURBED_PREEMPTED) == 0);
}

int main(void)
{
    const struct CMUnitTest everywhere[] = {
        cmocka_unit_test(it_is_possible_where_kernel_and_c_library_have_it),
        cmocka_unit_test(elsewhere_nothing_is_corrected),
    };
    const struct CMUnitTest where_possible[] = {
        cmocka_unit_test(who_moves_before_the_counter_reads_again),
        cmocka_unit_test(who_moves_behind_the_counter_reads_again),
        cmocka_unit_test(who_moves_there_and_back_reads_again),
        cmocka_unit_test(who_moves_each_time_knows_no_cpu),
        cmocka_unit_test(no_mark_is_left),
        cmocka_unit_test(who_has_set_a_mark_hears_of_a_move_within_a_reading),
        cmocka_unit_test_setup_teardown(each_reading_is_by_the_lines_of_its_own_cpu, correct, end),
        cmocka_unit_test_setup_teardown(a_wait_s_own_readings_do_not_look_like_a_preemption,
                                        correct, end),
    };
    int failed = cmocka_run_group_tests(everywhere, NULL, NULL);
    if (failed != 0 || !is_to_be_possible())
        return failed;
    if (!find_cpus()) {
        printf("this process has one CPU, so nobody can be moved\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(where_possible, NULL, NULL);
}
