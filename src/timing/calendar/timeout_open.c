/* SPDX-License-Identifier: MIT */
/* timeout_open: the signal and the timer, and how they are given back. */
#define _GNU_SOURCE
#include "timeout.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <timebase/error.h>

#include "clock/owner.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* More signals than this cannot be queued by one timer; a bound for the loop. */
#define PENDING_MAX 64

/* Who has time-outs open (owner.h); 0: nobody. */
static uint32_t owner;

/* What the owner is to give back; number 0: nothing. */
static struct {
    int number;
    timer_t timer;
    struct sigaction before;
} held;

/* Takes the ownership also from a thread that was cancelled or killed in its run, and gives back
 * what that thread held. */
static bool take_ownership(void)
{
    uint32_t me = owner_self(), before = __atomic_load_n(&owner, __ATOMIC_RELAXED);
    if (!owner_is_gone(before, me) ||
        !__atomic_compare_exchange_n(&owner, &before, me, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    if (held.number != 0) {
        /* A forked child has inherited the handler but not the timer; a timer of that number is
         * its own. */
        if (owner_shares_memory(before, me))
            timer_delete(held.timer);
        sigaction(held.number, &held.before, NULL);
        held.number = 0;
    }
    return true;
}

static void give_up_ownership(void)
{
    held.number = 0;
    __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
}

static bool make_timer(struct timeout *timeout)
{
    struct sigevent event;
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = timeout->signal_number;
    event.sigev_value.sival_ptr = timeout;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    return timer_create(CLOCK_MONOTONIC, &event, &timeout->timer) == 0;
}

static bool is_free(int number, struct sigaction *before)
{
    return sigaction(number, NULL, before) == 0 && !(before->sa_flags & SA_SIGINFO) &&
        before->sa_handler == SIG_DFL;
}

/* The handler comes first: a timer's signal without one would end the process. */
static bool try_signal(struct timeout *timeout, int number)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof(ours));
    ours.sa_sigaction = timeout_handle;
    ours.sa_flags = SA_SIGINFO;
    sigemptyset(&ours.sa_mask);
    timeout->signal_number = number;
    if (!is_free(number, &timeout->action_before) || sigaction(number, &ours, NULL) != 0)
        return false;
    if (make_timer(timeout))
        return true;
    sigaction(number, &timeout->action_before, NULL);
    return false;
}

/* Begins with the highest number, because programs take signals from SIGRTMIN on. Emulators keep
 * some for themselves. */
static bool choose_signal(struct timeout *timeout)
{
    for (int number = SIGRTMAX; number >= SIGRTMIN; number--)
        if (try_signal(timeout, number))
            return true;
    return false;
}

static void let_through(struct timeout *timeout)
{
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, timeout->signal_number);
    pthread_sigmask(SIG_UNBLOCK, &own, &timeout->mask_before);
    timeout->mask = timeout->mask_before;
    sigdelset(&timeout->mask, timeout->signal_number);
}

/* The default action of the signal ends the process. So pending signals are taken away before the
 * default action is set again. */
static void drop_pending(const struct timeout *timeout)
{
    const struct timespec at_once = {0, 0};
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, timeout->signal_number);
    pthread_sigmask(SIG_BLOCK, &own, NULL);
    for (int i = 0; i < PENDING_MAX && sigtimedwait(&own, NULL, &at_once) > 0; i++)
        continue;
}

int timeout_open(struct timeout *timeout)
{
    int saved_errno = errno;
    memset(timeout, 0, sizeof(*timeout));
    bool is_owner = take_ownership();
    errno = saved_errno;
    if (!is_owner)
        return TIMEBASE_E_BUSY;
    bool is_chosen = choose_signal(timeout);
    if (is_chosen) {
        held.timer = timeout->timer;
        held.before = timeout->action_before;
        held.number = timeout->signal_number;
        let_through(timeout);
    } else {
        give_up_ownership();
    }
    errno = saved_errno;
    return is_chosen ? TIMEBASE_OK : TIMEBASE_E_UNSUPPORTED;
}

void timeout_close(struct timeout *timeout)
{
    int saved_errno = errno;
    timeout->state = TIMEOUT_OFF;
    timer_delete(timeout->timer);
    drop_pending(timeout);
    sigaction(timeout->signal_number, &timeout->action_before, NULL);
    pthread_sigmask(SIG_SETMASK, &timeout->mask_before, NULL);
    give_up_ownership();
    errno = saved_errno;
}
