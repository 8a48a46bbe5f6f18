/* SPDX-License-Identifier: MIT */
/*
 * The paper's second set of experiments: a timer, there the APIC's and here the kernel's, starts
 * an event every period, while the processor does something else.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "accuracy.h"
#include "accuracy_run.h"
#include "accuracy_signal.h"
#include "load.h"

#define NS_PER_SEC 1000000000

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

static void by_timerfd(struct bench_run *run)
{
    struct itimerspec timer = bench_run_timer(run);
    int file = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (file < 0 || timerfd_settime(file, TFD_TIMER_ABSTIME, &timer, NULL) != 0)
        run->result = TIMEBASE_E_PERMISSION;
    while (!bench_run_is_over(run)) {
        uint64_t expired;
        if (read(file, &expired, sizeof expired) == sizeof expired)
            bench_run_dispatch(run, expired);
        else if (errno != EINTR)
            run->result = TIMEBASE_E_PERMISSION;
    }
    if (file >= 0)
        close(file);
}

/* The next period whose time has not come: those before it are missed. */
static void skip_missed(struct bench_run *run)
{
    while (!bench_run_is_over(run) && bench_run_due_ns(run, run->due) <= monotonic_ns())
        run->due++;
}

static void by_nanosleep(struct bench_run *run)
{
    for (skip_missed(run); !bench_run_is_over(run); skip_missed(run)) {
        struct timespec due = bench_run_timespec(bench_run_due_ns(run, run->due));
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
            ;
        bench_run_dispatch(run, 1);
    }
}

static void by_waiter(struct bench_run *run)
{
    const struct timebase_bench_schedule *schedule = run->schedule;
    for (skip_missed(run); !bench_run_is_over(run); skip_missed(run)) {
        struct timebase_wait_result waited;
        bench_event_expect(&run->event, schedule->instrument, timebase_ticks());
        int result =
            timebase_wait_call_mono(schedule->waiter, bench_run_due_ns(run, run->due),
                                    schedule->flags, bench_event_take, &run->event, &waited);
        if (result < 0)
            run->result = result;
        else
            bench_run_keep(run, waited.target_ticks, waited.late != 0, waited.disturbance,
                           waited.mechanism);
        run->due++;
    }
}

/* Polls and never sleeps: a sleeping wait is compared with this. */
static void by_loop(struct bench_run *run)
{
    for (skip_missed(run); !bench_run_is_over(run); skip_missed(run)) {
        int64_t due = bench_run_due_ns(run, run->due);
        uint64_t target = timebase_ticks_at_mono(timebase_clock_default(), due);
        bench_event_expect(&run->event, run->schedule->instrument, target);
        while ((int64_t)(timebase_ticks() - target) < 0)
            ;
        bench_event_take(&run->event);
        bench_run_keep(run, target, false, 0, -1);
        run->due++;
    }
}

static void (*const dispatchers[])(struct bench_run *) = {
    [TIMEBASE_BENCH_DISPATCH_SIGNAL] = bench_run_by_signal,
    [TIMEBASE_BENCH_DISPATCH_TIMERFD] = by_timerfd,
    [TIMEBASE_BENCH_DISPATCH_NANOSLEEP] = by_nanosleep,
    [TIMEBASE_BENCH_DISPATCH_WAITER] = by_waiter,
    [TIMEBASE_BENCH_DISPATCH_LOOP] = by_loop,
};

#define DISPATCHERS ((int)(sizeof dispatchers / sizeof dispatchers[0]))

int timebase_bench_dispatch(const struct timebase_bench_schedule *schedule,
                            struct timebase_bench_hit *out)
{
    if (schedule == NULL || out == NULL || schedule->waiter == NULL ||
        schedule->instrument == NULL || schedule->period_ns == 0 || schedule->dispatcher < 0 ||
        schedule->dispatcher >= DISPATCHERS)
        return TIMEBASE_E_INVALID;
    if (schedule->dispatcher == TIMEBASE_BENCH_DISPATCH_SIGNAL &&
        !timebase_bench_load_possible(schedule->load))
        return TIMEBASE_E_INVALID;
    struct bench_run run = {
        .schedule = schedule, .hits = out, .due = 1, .start_ns = monotonic_ns()};
    dispatchers[schedule->dispatcher](&run);
    return run.result < 0 ? run.result : (int)run.hits_made;
}
