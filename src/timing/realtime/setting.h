/* SPDX-License-Identifier: MIT */
/*
 * setting: one thing that the kernel may grant, and how it is given back. A driver is three
 * functions and a table; realtime.c goes through the tables.
 */
#ifndef REALTIME_SETTING_H
#define REALTIME_SETTING_H

#include <timebase/realtime.h>

struct setting {
    uint32_t bit; /* enum timebase_realtime_bit */
    const char *name;
    const char *advice;
    /* 0, or the errno of the refusal: then all is as it was. */
    int (*acquire)(struct timebase_realtime *rt, const struct timebase_realtime_request *request);
    /* Sets it back: 0, or the errno of the call that failed. */
    int (*release)(struct timebase_realtime *rt);
    /* In a child of fork(): give up what it inherited, if it has not been changed since. */
    void (*disinherit)(struct timebase_realtime *rt);
};

extern const struct setting setting_affinity;
extern const struct setting setting_memory;
extern const struct setting setting_timer_slack;
extern const struct setting setting_cpu_latency;
extern const struct setting setting_scheduler;

/*
 * The thread's timer slack. Since Linux 6.12 a real-time thread has none, and gets the default
 * slack, not its own, when it leaves SCHED_FIFO. So the scheduler's driver saves the slack as well.
 */
int timer_slack_save(struct timebase_realtime *rt);
int timer_slack_restore(const struct timebase_realtime *rt);

#endif
