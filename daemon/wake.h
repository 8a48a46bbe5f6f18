/* SPDX-License-Identifier: MIT */
/*
 * wake: the daemon waits for time, signals, news of its sources, and a step of the system clock.
 * The kernel cancels a timer on CLOCK_REALTIME when the clock is set (TFD_TIMER_CANCEL_ON_SET).
 * This shows a step, a leap second and the end of a suspend at once.
 */
#ifndef DAEMON_WAKE_H
#define DAEMON_WAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "config/problem.h"
#include "config/settings.h"

enum wake_reason {
    WAKE_TIME = 1, /* the wait is over */
    WAKE_CLOCK_SET = 2,
    WAKE_RELOAD = 4, /* SIGHUP */
    WAKE_END = 8,    /* SIGTERM, SIGINT */
    WAKE_NEWS = 16,  /* a descriptor of a source became readable */
};

struct wake {
    int signal_fd;
    int clock_fd; /* -1: the kernel refused; the next sample then shows a step */
};

/* Signals are blocked from here on, and come as reasons. Returns 0, or -1 and *problem. */
int wake_open(struct wake *wake, struct problem *problem);

/*
 * Wait for so long at most, or until one of fds[] can be read: the reasons, at least one. Those of
 * fds[] that cannot be read become -1; there are no more than the configuration has sources.
 */
unsigned wake_wait(struct wake *wake, uint64_t ns, int *fds, unsigned count);

void wake_close(struct wake *wake);

#endif
