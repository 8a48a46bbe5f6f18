/* SPDX-License-Identifier: MIT */
/*
 * event: what happens at the target, and how the wait ends: by a call of the caller's function; or
 * by the return to the caller, if possible from behind all that was called (approach_from()).
 */
#ifndef STAGES_EVENT_H
#define STAGES_EVENT_H

#include "timing/waiter/waiter.h"

/* Of this wait, once it is known whether it is exact. */
void event_set(const struct wait *wait);

/* That has been set, for one that must not be early: as soon as may be behind its last poll. */
void event_set_never_early(struct waiter *waiter);

/* A call. */
void event_set_call(struct approach *approach, void (*function)(void *), void *argument);

/* A return, without or with the result of the last wait. Its frame is set apart. */
void event_set_return(struct waiter *waiter, enum event_way way);

#endif
