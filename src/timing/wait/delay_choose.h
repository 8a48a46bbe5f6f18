/* SPDX-License-Identifier: MIT */
/*
 * delay_choose: by which way a delay passes that does not count from its call, soon after another one or
 * by code that is not near.
 */
#ifndef WAIT_DELAY_CHOOSE_H
#define WAIT_DELAY_CHOOSE_H

#include "timing/waiter/waiter.h"

/* Returns what timebase_delay_ns() does. */
int delay_choose(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
                 struct timebase_wait_result *result, uint64_t begin_ticks);

#endif
