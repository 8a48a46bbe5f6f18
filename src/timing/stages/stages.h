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
#ifndef STAGES_STAGES_H
#define STAGES_STAGES_H

#include "timing/waiter/waiter.h"

/*
 * All stages of a wait. `asked` names the waiter and has the target in ticks and when the wait was
 * entered. Returns 0, 1 if it was late, or TIMEBASE_E_INVALID: the function used the waiter itself.
 * Where the wait may end behind, it may also return APPROACH_ENDS_BEHIND: see waiter_approach().
 */
int stages_run(const struct wait *asked);

#endif
