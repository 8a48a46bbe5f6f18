/* SPDX-License-Identifier: MIT */
/*
 * sleep: the part of a wait that needs no CPU.
 *
 *     struct sleep_wait wait = {0};
 *     do {
 *         target_ns = ...;                       // as the clock sees it now
 *     } while (sleep_towards(&wait, &sleeper, target_ns, lead_ns) == SLEEP_AGAIN);
 *     ...                                        // poll
 *
 * Each call sleeps a second at most: the distance of a target in UTC changes when the system clock
 * is stepped, and so it is looked at again in time. The last sleep ends at target - lead - margin,
 * or later by the wake-up latency, from which the margin learns. A signal does not end a sleep: the
 * kernel is asked for the same moment again.
 *
 * The kernel is asked to wake at an instant of CLOCK_MONOTONIC, as far ahead of its present reading
 * as the targets' clock says. The two clocks differ by nanoseconds, but by any amount while a clock
 * recovers from a disruption. Latency is measured on the targets' clock. In a time namespace both
 * the kernel's reading and the moment asked for are the namespace's.
 *
 * CLOCK_MONOTONIC stands still while the machine is suspended, and so does such a sleep: a target
 * in UTC that passed meanwhile is noticed up to a second after the machine has resumed.
 */
#ifndef SLEEP_SLEEP_H
#define SLEEP_SLEEP_H

#include <stdint.h>

#include "margin.h"

/* The longest sleep of one call, ns. */
#define SLEEP_SLICE_NS 1000000000

/* The thread was held up on its way to bed: the moment was over, and there was no sleep. */
#define SLEEP_HAS_PASSED (-1)

/* What sleeping needs of the world; a simulation has its own. */
struct sleep_ops {
    int64_t (*cpu_ns)(void *context); /* that this thread has used; null, or 0 now: unknown */
    /* The clock of the targets. */
    int64_t (*now_ns)(void *context);
    /* Sleep until this moment of it or later; less than 2 s ahead. 0, SLEEP_HAS_PASSED, or an
     * errno: no sleeping. */
    int (*sleep_until)(void *context, int64_t until_ns);
};

/* The kernel's sleep, and monotonic time of the clock that context is (const timebase_clock *). */
extern const struct sleep_ops sleep_in_kernel;

struct sleeper {
    const struct sleep_ops *ops;
    void *context;
    struct margin margin;
};

void sleeper_init(struct sleeper *sleeper, const struct sleep_ops *ops, void *context);

/* One wait; zeros to begin with. */
struct sleep_wait {
    int64_t wake_ns;   /* latency of the last wake-up; 0 if it did not sleep to the end */
    int64_t margin_ns; /* that was used for it; 0 likewise */
    uint32_t calls;
};

enum sleep_outcome {
    SLEEP_POLL,  /* the target is near: poll from here. Or: sleeping is not possible */
    SLEEP_AGAIN, /* it slept: look at the target again, and call again */
};

/* The target on the targets' clock; the lead, at least 0, is what is to be left of the time. */
enum sleep_outcome sleep_towards(struct sleep_wait *wait, struct sleeper *sleeper,
                                 int64_t target_ns, int64_t lead_ns);

#endif
