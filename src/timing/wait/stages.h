/* SPDX-License-Identifier: MIT */
/*
 * stages: from a target to its event.
 *
 *     sleep      until a learnt margin before it (sleep.h), if asked for
 *     poll       with the processor's relaxing instruction; the target is converted again
 *     prepare    the last instructions and the event's function into the caches, if asked for
 *     approach   exact or plain (approach.h)
 *     settle     what happened (outcome.h): now if a result is asked for, else before the next wait
 */
#ifndef WAIT_STAGES_H
#define WAIT_STAGES_H

#include "waiter.h"

/*
 * All stages of the wait asked for, which names its waiter and has its target in ticks, and when it was
 * entered. Returns 0,
 * 1 if it was late, or TIMEBASE_E_INVALID: the function used the waiter itself. Or APPROACH_POLLS,
 * where it may leave: see waiter_approach().
 */
int stages_run(const struct wait *asked);

#endif
