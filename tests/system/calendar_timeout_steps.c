/* SPDX-License-Identifier: MIT */
/*
 * A time-out at every instruction. A debugger single-steps a child through a unit with a time-out,
 * from arming to disarming, and delivers the timer's signal after step 1, in the next child after
 * step 2, and so on: the unit is either stopped or not, and the child goes on soundly in both
 * cases. Above all, a signal that comes just as the unit returns does not jump into a frame that is
 * gone.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "timing/calendar/timeout.h"
#include "child.h"

#include <timebase/clock.h>

#define STEPS_MAX 20000
/* Instrumented code is ten times as long, and takes its square. */
#ifdef __SANITIZE_ADDRESS__
#define STRIDE 16
#else
#define STRIDE 1
#endif
/* Shorter than a step takes: whatever the signal finds, the time is over. */
#define SOON_NS 1
#define CANARY 0x5afe5afeu

/* The child's exit status says what happened. */
enum { ENDED = 10, STOPPED = 11 };

static struct timeout timeout;
static volatile unsigned work;

static void unit(void *argument)
{
    (void)argument;
    for (int i = 0; i < 5; i++)
        work = work + 1;
}

/* A frame of its own, as the wait's is: were it jumped over, its canaries would not be looked at.
 */
__attribute__((noinline)) static unsigned call_as_a_wait_does(void (*function)(void *))
{
    volatile unsigned before = CANARY;
    volatile unsigned returned = 0;
    function(&timeout);
    returned = CANARY;
    return before == CANARY && returned == CANARY;
}

__attribute__((noinline)) static void overwrite_old_frames(void)
{
    unsigned char bytes[512];
    memset(bytes, 0xa5, sizeof(bytes));
    __asm__ __volatile__("" : : "r"(bytes) : "memory");
}

/* Between the two stops the parent steps. */
static void live_under_the_debugger(void)
{
    EXPECT(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    /* The clock is made ready here, so that all steps are the unit's own. */
    timebase_mono_at_ns(timebase_clock_default(), timebase_ticks());
    EXPECT(timeout_open(&timeout) == 0);
    timeout.action = unit;
    /* Once beforehand, so that the steps below do not lead through the dynamic linker. */
    timeout_arm(&timeout, INT64_MAX / 2, SOON_NS);
    EXPECT(call_as_a_wait_does(timeout_call) && !timeout_disarm(&timeout));
    overwrite_old_frames();
    work = 0;
    timeout_arm(&timeout, INT64_MAX / 2, SOON_NS);
    raise(SIGSTOP);
    unsigned sound = call_as_a_wait_does(timeout_call);
    overwrite_old_frames();
    bool is_stopped = timeout_disarm(&timeout);
    overwrite_old_frames();
    raise(SIGSTOP);
    EXPECT(sound);
    EXPECT(is_stopped || work == 5);
    EXPECT(timeout.state == TIMEOUT_OFF);
    EXPECT(timeout.end_ticks != 0);
    /* And the next one begins as if nothing had been. */
    work = 0;
    timeout_arm(&timeout, INT64_MAX / 2, 1000000000);
    EXPECT(call_as_a_wait_does(timeout_call) && work == 5);
    EXPECT(!timeout_disarm(&timeout));
    timeout_close(&timeout);
    _exit(is_stopped ? STOPPED : ENDED);
}

static pid_t start_child(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        live_under_the_debugger();
    return child;
}

/* As the timer would: for the address of the structure, which the child has inherited. */
static void send_time_out(pid_t child, int number)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = number;
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = &timeout;
    syscall(SYS_rt_tgsigqueueinfo, child, child, number, &info);
}

/* The child chose it; peeking at its memory tells. */
static int signal_of(pid_t child)
{
    errno = 0;
    long word = ptrace(PTRACE_PEEKDATA, child, &timeout.signal_number, NULL);
    int number;
    memcpy(&number, &word, sizeof(number));
    return errno == 0 ? number : -1;
}

/* Let it run to its next stop or end, passing signals on. */
static int run_to_next(pid_t child, int *status)
{
    int signal_to_pass = 0;
    for (;;) {
        ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal_to_pass);
        if (waitpid(child, status, 0) != child)
            return -1;
        if (WIFEXITED(*status) || WIFSIGNALED(*status) || WSTOPSIG(*status) == SIGSTOP)
            return 0;
        signal_to_pass = WSTOPSIG(*status);
    }
}

/* True once the child has come to its second stop within the steps. */
static bool step(pid_t child, int steps, bool *can_step)
{
    int status;
    for (int i = 0; i < steps; i++) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) {
            *can_step = false;
            return true;
        }
        waitpid(child, &status, 0);
        if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
            return true;
    }
    return false;
}

enum end { CANNOT, OVER, FAILED };

/* One child, with the signal after so many steps: its exit status, or OVER if it has not so many.
 */
static int try_at(int steps, enum end *end)
{
    int status;
    bool can_step = true;
    pid_t child = start_child();
    *end = FAILED;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        *end = CANNOT;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    int number = signal_of(child);
    if (step(child, steps, &can_step))
        *end = can_step ? OVER : CANNOT;
    else if (number > 0)
        send_time_out(child, number);
    /* Over the second stop, if it is still to come, to the end. */
    while (WIFSTOPPED(status) && run_to_next(child, &status) == 0)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void a_time_out_at_any_instruction_stops_the_unit_or_lets_it_end(void **state)
{
    int counts[2] = {0, 0};
    enum end end = FAILED;
    int steps, status = 0;
    (void)state;
    if (UNDER_THREAD_SANITIZER)
        skip_because("ThreadSanitizer delays signals until it likes");
    for (steps = 1; steps < STEPS_MAX; steps += STRIDE) {
        status = try_at(steps, &end);
        if (end != FAILED)
            break;
        if (status != ENDED && status != STOPPED)
            print_error("after %d steps: status %d\n", steps, status);
        assert_in_range(status, ENDED, STOPPED);
        counts[status - ENDED]++;
    }
    if (end == CANNOT && steps == 1)
        skip_because("no debugger can single-step here");
    assert_int_equal(end, OVER);
    print_message("%d instructions, every %d: stopped at %d of them\n", steps - 1, STRIDE,
                  counts[1]);
    assert_true(counts[0] > 0);
    assert_true(counts[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_out_at_any_instruction_stops_the_unit_or_lets_it_end),
    };
    return run_all(tests);
}
