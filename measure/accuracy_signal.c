/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "accuracy_signal.h"
#include "load.h"

#ifndef sigev_notify_thread_id /* the name in the manual page, which glibc lacks */
#define sigev_notify_thread_id _sigev_un._tid
#endif
#define TIMER_SIGNAL (SIGRTMIN + 7)

static struct bench_run *signalled;
static timer_t signal_timer;

static void on_signal(int number)
{
    (void)number;
    int saved = errno;
    int overrun = timer_getoverrun(signal_timer);
    bench_run_dispatch(signalled, 1 + (uint64_t)(overrun > 0 ? overrun : 0));
    /* Done here, as with a short period the next signal comes before the thread can check. */
    if (bench_run_is_over(signalled))
        timer_settime(signal_timer, 0, &(struct itimerspec){0}, NULL);
    errno = saved;
}

static void run_signal_timer(struct bench_run *run)
{
    struct itimerspec timer = bench_run_timer(run);
    signalled = run;
    if (timer_settime(signal_timer, TIMER_ABSTIME, &timer, NULL) != 0)
        run->result = TIMEBASE_E_PERMISSION;
    while (!bench_run_is_over(run))
        timebase_bench_load_step(run->schedule->load);
}

/* A signal may still be pending; without the handler it would end the process. */
static void swallow_pending(const sigset_t *set)
{
    const struct timespec no_time = {0};
    pthread_sigmask(SIG_BLOCK, set, NULL);
    while (sigtimedwait(set, NULL, &no_time) == TIMER_SIGNAL)
        ;
}

void bench_run_by_signal(struct bench_run *run)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMER_SIGNAL};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigset_t set, mask_before;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    sigemptyset(&set);
    sigaddset(&set, TIMER_SIGNAL);
    sigaction(TIMER_SIGNAL, &action, &before);
    pthread_sigmask(SIG_UNBLOCK, &set, &mask_before);
    if (timer_create(CLOCK_MONOTONIC, &event, &signal_timer) == 0) {
        run_signal_timer(run);
        timer_delete(signal_timer);
    } else {
        run->result = TIMEBASE_E_PERMISSION;
    }
    swallow_pending(&set);
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    sigaction(TIMER_SIGNAL, &before, NULL);
}
