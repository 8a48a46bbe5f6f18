/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "timeout.h"

#include <errno.h>
#include <string.h>

#include <timebase/counter.h>
#include <timebase/error.h>

#define NS_PER_SEC 1000000000
/* Where time_t has 32 bits, later than any timer will ever be set. */
#define LATEST_SEC 0x7fffffff
/*
 * How often the handler puts off a jump that might do harm: for 0.1 ms, then for twice as long, and
 * so on, 6.3 ms in all. A delay that is over before the handler has returned lets the interrupted
 * code make no progress. How long that takes is the machine's affair: 0.4 ms were seen in an
 * emulator.
 */
#define RETRIES 6
#define LONGEST_RETRY_NS 3200000

static void set_timer(struct timeout *timeout, int flags, int64_t ns)
{
    struct itimerspec when;
    memset(&when, 0, sizeof(when));
    int64_t sec = ns / NS_PER_SEC;
    when.it_value.tv_sec = (time_t)(sec < LATEST_SEC ? sec : LATEST_SEC);
    when.it_value.tv_nsec = (long)(ns % NS_PER_SEC);
    timer_settime(timeout->timer, flags, &when, NULL);
}

/*
 * Are signals blocked that are not blocked in the run? Then the unit has blocked them, or another
 * signal's handler has interrupted it, and a jump out of either may do harm. The kernel fills only
 * 64 bits of the set.
 */
static bool is_in_the_midst(const struct timeout *timeout, const sigset_t *mask)
{
    for (int number = 1; number <= 64; number++)
        if (sigismember(mask, number) == 1 && sigismember(&timeout->mask, number) == 0)
            return true;
    return false;
}

/* After RETRIES delays the jump is made all the same. */
static bool is_harmful(struct timeout *timeout, const sigset_t *mask)
{
    return is_in_the_midst(timeout, mask) && timeout->retries-- > 0;
}

void timeout_handle(int number, siginfo_t *info, void *context)
{
    struct timeout *timeout = info->si_value.sival_ptr;
    int saved_errno = errno;
    (void)number;
    if (info->si_code != SI_TIMER || timeout->state == TIMEOUT_OFF)
        return;
    if (timeout->state == TIMEOUT_ARMED) {
        timeout->is_overdue = 1;
    } else if (is_harmful(timeout, &((ucontext_t *)context)->uc_sigmask)) {
        set_timer(timeout, 0, LONGEST_RETRY_NS >> timeout->retries);
    } else {
        timeout->state = TIMEOUT_ARMED;
        timeout->is_stopped = 1;
        timeout->is_overdue = 1;
        errno = saved_errno;
        siglongjmp(timeout->landing, 1);
    }
    errno = saved_errno;
}

/*
 * The timer went off before the unit began: in a late wait, or in its rehearsal. The handler does
 * not set it anew: where the time is shorter than the handler takes, the wait would make no
 * progress.
 */
static void give_time_anew(struct timeout *timeout)
{
    timeout->is_overdue = 0;
    set_timer(timeout, 0, timeout->limit_ns);
}

void timeout_call(void *argument)
{
    struct timeout *timeout = argument;
    /* The mask is not saved here: that would be a system call before each unit. */
    if (sigsetjmp(timeout->landing, 0) == 0) {
        timeout->is_stopped = 0;
        timeout->state = TIMEOUT_RUNNING;
        if (timeout->is_overdue)
            give_time_anew(timeout);
        timeout->action(timeout->argument);
        timeout->state = TIMEOUT_ARMED;
    }
    timeout->end_ticks = timebase_ticks_ordered();
    /* The handler was left with its own signal blocked, and the unit may have blocked others. */
    if (timeout->is_stopped)
        pthread_sigmask(SIG_SETMASK, &timeout->mask, NULL);
}

void timeout_arm(struct timeout *timeout, int64_t at_ns, int64_t limit_ns)
{
    timeout->limit_ns = limit_ns;
    timeout->is_stopped = 0;
    timeout->is_overdue = 0;
    timeout->retries = RETRIES;
    timeout->state = TIMEOUT_ARMED;
    set_timer(timeout, TIMER_ABSTIME, at_ns);
}

bool timeout_disarm(struct timeout *timeout)
{
    timeout->state = TIMEOUT_OFF;
    set_timer(timeout, 0, 0);
    return timeout->is_stopped;
}
