/* SPDX-License-Identifier: MIT */
/*
 * SCHED_FIFO for this thread, with SCHED_RESET_ON_FORK: what it starts does not run at its
 * priority. The kernel keeps the thread's nice value meanwhile, but not its timer slack.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#include "setting.h"

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/* SCHED_RESET_ON_FORK comes as a bit of the policy, in and out. */
static int set_policy(int policy, int priority)
{
    struct sched_param parameter = {.sched_priority = priority};
    return sched_setscheduler(0, policy, &parameter) == 0 ? 0 : errno;
}

static int get_policy(struct timebase_realtime *rt)
{
    struct sched_param parameter;
    int policy = sched_getscheduler(0);
    if (policy < 0 || sched_getparam(0, &parameter) != 0)
        return errno;
    rt->policy = policy;
    rt->priority = parameter.sched_priority;
    rt->nice = getpriority(PRIO_PROCESS, 0);
    return 0;
}

static int acquire(struct timebase_realtime *rt, const struct timebase_realtime_request *request)
{
    int error = get_policy(rt);
    if (error != 0)
        return error;
    /*
     * A thread under SCHED_DEADLINE runs before any of SCHED_FIFO, and its parameters could not be
     * restored.
     */
    if ((rt->policy & ~SCHED_RESET_ON_FORK) == SCHED_DEADLINE)
        return EBUSY;
    if (!(rt->granted & TIMEBASE_REALTIME_TIMER_SLACK))
        timer_slack_save(rt);
    return set_policy(SCHED_FIFO | SCHED_RESET_ON_FORK, request->priority);
}

/* Without CAP_SYS_NICE the class can be restored, but the mark cannot be removed. */
static int release(struct timebase_realtime *rt)
{
    int error = set_policy(rt->policy, rt->priority);
    if (error == EPERM)
        set_policy(rt->policy | SCHED_RESET_ON_FORK, rt->priority);
    timer_slack_restore(rt);
    return error;
}

/* The kernel made the child SCHED_OTHER with nice value 0. On Linux each thread has a nice value of
 * its own. */
static void disinherit(struct timebase_realtime *rt)
{
    if (sched_getscheduler(0) == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == 0) {
        set_policy(rt->policy, rt->priority);
        setpriority(PRIO_PROCESS, 0, rt->nice);
    }
    setting_timer_slack.disinherit(rt);
}

const struct setting setting_scheduler = {
    .bit = TIMEBASE_REALTIME_SCHEDULER,
    .name = "SCHED_FIFO",
    .advice = "allow the user real-time priorities (RLIMIT_RTPRIO: rtprio in "
              "/etc/security/limits.conf, LimitRTPRIO= in a systemd unit, --ulimit rtprio= for a "
              "container) or give the program CAP_SYS_NICE; if root is refused, its cgroup has no "
              "real-time budget (cpu.rt_runtime_us)",
    .acquire = acquire,
    .release = release,
    .disinherit = disinherit,
};
