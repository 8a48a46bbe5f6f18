/* SPDX-License-Identifier: MIT */
/* delay_soon: a delay soon after another: by code that is near. */
#ifndef WAIT_DELAY_SOON_H
#define WAIT_DELAY_SOON_H

#include "timing/waiter/waiter.h"

/* From delay_called_ticks on. Returns as a delay does. */
int delay_soon(struct waiter *waiter, uint64_t delay_ns, unsigned flags,
               struct timebase_wait_result *result);

#endif
