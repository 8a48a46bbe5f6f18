/* SPDX-License-Identifier: MIT */
/*
 * How late the kernel may run this thread's timers, in order to wake up less often: 50 us usually.
 * Real-time threads do not use it; since Linux 6.12 theirs reads as 0 and cannot be set.
 */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "setting.h"

enum { LEAST_NS = 1 }; /* 0 stands for the default */

/* Not prctl(): it returns an int, and a slack may be longer than 2.1 s. */
static long get_slack(void)
{
    return syscall(SYS_prctl, PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
}

static int set_slack(unsigned long ns)
{
    return syscall(SYS_prctl, PR_SET_TIMERSLACK, ns, 0UL, 0UL, 0UL) == 0 ? 0 : errno;
}

int timer_slack_save(struct timebase_realtime *rt)
{
    long slack = get_slack();
    rt->timer_slack_ns = slack > 0 ? (uint64_t)slack : 0;
    return slack >= 0 ? 0 : errno;
}

int timer_slack_restore(const struct timebase_realtime *rt)
{
    return rt->timer_slack_ns != 0 ? set_slack((unsigned long)rt->timer_slack_ns) : 0;
}

static int acquire(struct timebase_realtime *rt, const struct timebase_realtime_request *request)
{
    (void)request;
    int error = timer_slack_save(rt);
    return error == 0 ? set_slack(LEAST_NS) : error;
}

static int release(struct timebase_realtime *rt)
{
    return timer_slack_restore(rt);
}

static void disinherit(struct timebase_realtime *rt)
{
    long slack = get_slack();
    if (slack == 0 || slack == LEAST_NS)
        timer_slack_restore(rt);
}

const struct setting setting_timer_slack = {
    .bit = TIMEBASE_REALTIME_TIMER_SLACK,
    .name = "timer slack of 1 ns",
    .advice = "let the sandbox (seccomp) pass prctl(PR_SET_TIMERSLACK); under SCHED_FIFO nothing "
              "is lost without it",
    .acquire = acquire,
    .release = release,
    .disinherit = disinherit,
};
