/* SPDX-License-Identifier: MIT */
/*
 * timeout: stops a unit that runs too long, by a timer's signal and siglongjmp().
 *
 *     open       once for a run: chooses a signal that has no handler, makes the thread's timer
 *     arm(at)    before the last approach: a system call, which takes its time
 *     call       is the event's function: setjmp, the action, the counter
 *     disarm     returns whether it was stopped
 *     close      gives all back
 *
 * The signal may come at any instruction. `state` tells the handler what it has interrupted:
 *
 *     OFF      between units: nothing is done
 *     ARMED    the unit has not begun (a late wake-up), or is over: this is noted, and when it
 *              begins it is given its time anew, so that it never runs without a time-out
 *     RUNNING  the unit runs, the frame of timeout_call() is there and its landing is set: jump
 *
 * The same thread sets RUNNING after setjmp and takes it back before it leaves that frame, so the
 * handler never jumps into a frame that is gone.
 *
 * The handler does not jump at once out of another signal's handler, whose signal is blocked then:
 * it tries again a little later, each time after twice as long. A thread that renews the lines of a
 * clock has all signals blocked, so the handler never interrupts it, and no clock stays locked.
 */
#ifndef CALENDAR_TIMEOUT_H
#define CALENDAR_TIMEOUT_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum timeout_state { TIMEOUT_OFF, TIMEOUT_ARMED, TIMEOUT_RUNNING };

struct timeout {
    sigjmp_buf landing;
    volatile sig_atomic_t state;      /* enum timeout_state */
    volatile sig_atomic_t is_stopped; /* the latest call was */
    volatile sig_atomic_t is_overdue; /* the timer is to be set for the next call */
    int retries;                      /* how often the handler may still put the jump off */
    int64_t limit_ns;                 /* of the present unit */
    void (*action)(void *);
    void *argument;
    uint64_t end_ticks; /* when the action was over, or stopped */
    /* To give back. */
    int signal_number;
    timer_t timer;
    struct sigaction action_before;
    sigset_t mask_before; /* at open */
    sigset_t mask;        /* in the run: the signal is let through */
};

/* Returns 0, TIMEBASE_E_BUSY (another thread's is open) or TIMEBASE_E_UNSUPPORTED. */
int timeout_open(struct timeout *timeout);
void timeout_close(struct timeout *timeout);

/* Stop what timeout_call() will run at the earliest at at_ns, monotonic; its limit is limit_ns. */
void timeout_arm(struct timeout *timeout, int64_t at_ns, int64_t limit_ns);

/* The function for the wait: timeout->action(timeout->argument), stopped when it is time. */
void timeout_call(void *timeout);

/* The signal's handler; timeout_open.c installs it. */
void timeout_handle(int number, siginfo_t *info, void *context);

/* After this no signal comes. True if the call was stopped. */
bool timeout_disarm(struct timeout *timeout);

#endif
