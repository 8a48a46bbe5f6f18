/* SPDX-License-Identifier: MIT */
/*
 * Counter reads switched off: by PR_SET_TSC, with and without a sandbox that refuses prctl().
 * Each case is a child process that has not read anything yet. It must be served, and no
 * signal may come.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <timebase/counter.h>
#include <timebase/error.h>

/* The children's answers, as their exit status. */
enum { WORKS = 0, NO_TICKS = 1, NO_PROBE = 2, BAD_PROBE = 3, NO_SELECT = 4, NOT_PERMITTED = 77 };

/*
 * -1 where the processor or the emulator has no such switch. ThreadSanitizer's runtime reads the
 * clock in every open(), and through the vDSO, so that it would die of the switch itself.
 */
static int switch_tsc_off(void)
{
#if (defined(__x86_64__) || defined(__i386__)) && !defined(__SANITIZE_THREAD__)
    return prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
#else
    return -1;
#endif
}

/* From now on prctl() fails with this errno, as in many a container. */
static int refuse_prctl(int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int ticks_work(void)
{
    uint64_t first = timebase_ticks_ordered(), last = first;
    for (int i = 0; i < 1000; i++) {
        uint64_t now = i & 1 ? timebase_ticks_ordered() : timebase_ticks();
        if ((int64_t)(now - last) < 0)
            return 0;
        last = now;
    }
    return last != first;
}

static int use_everything(void)
{
    struct timebase_counter counter;
    if (!ticks_work())
        return NO_TICKS;
    if (timebase_counter_probe(&counter) != TIMEBASE_OK)
        return NO_PROBE;
    if (counter.id != timebase_counter_id() || counter.frequency_hz == 0)
        return BAD_PROBE;
    if (timebase_counter_select(TIMEBASE_COUNTER_OS) != TIMEBASE_OK || !ticks_work())
        return NO_SELECT;
    return WORKS;
}

static int expect_os_clock(void)
{
    struct timebase_counter counter;
    int result = use_everything();
    if (result != WORKS)
        return result;
    timebase_counter_probe(&counter);
    int as_it_should = counter.id == TIMEBASE_COUNTER_OS && counter.frequency_hz == 1000000000 &&
        (counter.reasons & TIMEBASE_REASON_UNREADABLE);
    return as_it_should ? WORKS : BAD_PROBE;
}

static int tsc_off(void)
{
    return switch_tsc_off() != 0 ? NOT_PERMITTED : expect_os_clock();
}

static int tsc_off_then_selected(void)
{
    if (switch_tsc_off() != 0)
        return NOT_PERMITTED;
    if (timebase_counter_select((int)TIMEBASE_ARCH_COUNTER) != TIMEBASE_E_PERMISSION)
        return NO_SELECT;
    return expect_os_clock();
}

static int tsc_off_later(void)
{
    if (!ticks_work())
        return NO_TICKS;
    if (timebase_counter_select(TIMEBASE_COUNTER_OS) != TIMEBASE_OK)
        return NO_SELECT;
    if (switch_tsc_off() != 0)
        return NOT_PERMITTED;
    /* select again, so that the kernel's clock is not read through the vDSO, which uses the TSC */
    return timebase_counter_select(TIMEBASE_COUNTER_OS) == TIMEBASE_OK ? expect_os_clock()
                                                                       : NO_SELECT;
}

static int prctl_refused(void)
{
    return refuse_prctl(EPERM) != 0 ? NOT_PERMITTED : use_everything();
}

static int prctl_unknown(void)
{
    return refuse_prctl(ENOSYS) != 0 ? NOT_PERMITTED : use_everything();
}

/* The hard one: the switch is off, and nobody tells. */
static int tsc_off_and_prctl_refused(void)
{
    if (switch_tsc_off() != 0 || refuse_prctl(EPERM) != 0)
        return NOT_PERMITTED;
    return use_everything();
}

static void expect_success(int (*act)(void))
{
    int status = -1;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* not the framework's handler, which would run on */
        _exit(act());
    }
    assert_true(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status))
        fail_msg("signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == NOT_PERMITTED)
        skip();
    assert_int_equal(WEXITSTATUS(status), WORKS);
}

static void test_tsc_off(void **state)
{
    (void)state;
    expect_success(tsc_off);
}

static void test_tsc_off_then_selected(void **state)
{
    (void)state;
    expect_success(tsc_off_then_selected);
}

static void test_tsc_off_later(void **state)
{
    (void)state;
    expect_success(tsc_off_later);
}

static void test_prctl_refused(void **state)
{
    (void)state;
    expect_success(prctl_refused);
}

static void test_prctl_unknown(void **state)
{
    (void)state;
    expect_success(prctl_unknown);
}

static void test_tsc_off_and_prctl_refused(void **state)
{
    (void)state;
    expect_success(tsc_off_and_prctl_refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tsc_off),       cmocka_unit_test(test_tsc_off_then_selected),
        cmocka_unit_test(test_tsc_off_later), cmocka_unit_test(test_prctl_refused),
        cmocka_unit_test(test_prctl_unknown), cmocka_unit_test(test_tsc_off_and_prctl_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
