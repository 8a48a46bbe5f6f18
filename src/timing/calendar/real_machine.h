/* SPDX-License-Identifier: MIT */
/* real_machine: the operations of the dispatcher on the real machine: a waiter, a clock, a timer.
 */
#ifndef CALENDAR_REAL_MACHINE_H
#define CALENDAR_REAL_MACHINE_H

#include "dispatch.h"
#include "timeout.h"

struct real_machine {
    struct timebase_waiter *waiter;
    const timebase_clock *clock;
    struct timeout *timeout; /* open; null if no unit has a time-out */
    double tick_ns;          /* length of a tick */
    uint64_t tail_ticks;     /* from the end of a function to the return of the wait around it */
};

extern const struct dispatch_machine real_machine_operations;

/* Returns 0 or the error of the waiter's first wait; takes some 100 us. */
int real_machine_begin(struct real_machine *machine, struct timebase_waiter *waiter,
                       struct timeout *timeout);

#endif
