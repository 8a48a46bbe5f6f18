/* SPDX-License-Identifier: MIT */
/*
 * prepare: cold code costs a hundred times the wait's own error. So the code of the approach, its
 * table and the event's function are used once before, which brings them into the caches.
 */
#ifndef WAIT_PREPARE_H
#define WAIT_PREPARE_H

#include <stdint.h>

#include "waiter.h"

/* What it takes at most with everything cold, without a rehearsal of the function. */
#define PREPARE_NS 5000

/* Some approaches to targets of their own while there is time. Returns 1 if there was. */
int prepare(struct waiter *waiter, uint64_t target_ticks, unsigned flags, void (*function)(void *),
            void *argument);

#endif
